#include "core/pages.h"

#include "core/memory.h"

#include <stdlib.h>
#include <sys/mman.h>

enum {
    ARENA_PAGES = 4096,
    LARGE = 8, /* small pages in a large one */
    HEADER = (int)offsetof(pess__page, items)
};

void pess__page_pool_begin(pess__page_pool *pool) { *pool = (pess__page_pool){.lock = PTHREAD_MUTEX_INITIALIZER}; }

void pess__page_pool_free(pess__page_pool *pool) {
    for (int64_t i = 0; i < pool->arenas; i++) (void)munmap(pool->arena[i], (size_t)ARENA_PAGES * PESS__PAGE_BYTES);
    free(pool->arena);
    (void)pthread_mutex_destroy(&pool->lock);
}

static bool add_arena(pess__page_pool *pool) {
    if (pess__grow(&pool->arena, &pool->arena_capacity, pool->arenas + 1, sizeof *pool->arena, "pages", NULL) !=
        PESS_OK)
        return false;
    void *memory =
        mmap(NULL, (size_t)ARENA_PAGES * PESS__PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    pool->arena[pool->arenas++] = memory;
    pool->taken = 0;
    return true;
}

static int64_t small_pages(const pess__page *page) { return (page->room + HEADER) / PESS__PAGE_BYTES; }

/* A page that was never in use: from the first arena a small one. */
static pess__page *new_page(pess__page_pool *pool) {
    if ((pool->arenas == 0 || pool->taken == ARENA_PAGES) && !add_arena(pool)) return NULL;
    const int32_t pages = pool->arenas > 1 ? LARGE : 1;
    pess__page *page = (pess__page *)(void *)(pool->arena[pool->arenas - 1] + pool->taken * PESS__PAGE_BYTES);
    page->room = pages * PESS__PAGE_BYTES - HEADER;
    pool->taken += pages;
    return page;
}

static pess__page *take_page(pess__page_pool *pool) {
    pess__page **list = pool->free != NULL ? &pool->free : &pool->large;
    pess__page *page = *list;
    if (page != NULL)
        *list = page->next;
    else if ((page = new_page(pool)) == NULL)
        return NULL;
    pool->in_use += small_pages(page);
    return page;
}

bool pess__page_list_grow(pess__page_pool *pool, pess__page_list *list) {
    (void)pthread_mutex_lock(&pool->lock);
    pess__page *page = take_page(pool);
    (void)pthread_mutex_unlock(&pool->lock);
    if (page == NULL) return false;
    page->next = NULL;
    page->used = 0;
    if (list->last != NULL)
        list->last->next = page;
    else
        list->first = page;
    list->last = page;
    return true;
}

void pess__page_list_join(pess__page_list *list, pess__page_list *other) {
    if (other->first == NULL) return;
    if (list->last != NULL)
        list->last->next = other->first;
    else
        list->first = other->first;
    list->last = other->last;
    list->items += other->items;
    *other = (pess__page_list){0};
}

void pess__page_list_recycle(pess__page_pool *pool, pess__page_list *list) {
    (void)pthread_mutex_lock(&pool->lock);
    for (pess__page *page = list->first; page != NULL;) {
        pess__page *next = page->next, **to = small_pages(page) == 1 ? &pool->free : &pool->large;
        page->next = *to;
        *to = page;
        pool->in_use -= small_pages(page);
        page = next;
    }
    (void)pthread_mutex_unlock(&pool->lock);
    *list = (pess__page_list){0};
}

void pess__page_list_release(pess__page_pool *pool, pess__page_list *list) {
    int64_t pages = 0;
    for (pess__page *page = list->first; page != NULL;) {
        pess__page *next = page->next;
        const int64_t here = small_pages(page);
        pages += here;
        /* refused where the system's pages are larger: kept until the end too */
        if (here > 1) (void)madvise(page, (size_t)here * PESS__PAGE_BYTES, MADV_DONTNEED);
        page = next;
    }
    (void)pthread_mutex_lock(&pool->lock);
    pool->in_use -= pages;
    (void)pthread_mutex_unlock(&pool->lock);
    *list = (pess__page_list){0};
}
