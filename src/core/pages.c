#include "core/pages.h"

#include "core/memory.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { ARENA_PAGES = 4096 };

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

static pess__page *take_page(pess__page_pool *pool) {
    pess__page *page = pool->free;
    if (page != NULL) {
        pool->free = page->next;
    } else {
        if ((pool->arenas == 0 || pool->taken == ARENA_PAGES) && !add_arena(pool)) return NULL;
        page = (pess__page *)(void *)(pool->arena[pool->arenas - 1] + pool->taken++ * PESS__PAGE_BYTES);
    }
    pool->in_use++;
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
    if (list->first == NULL) return;
    int64_t pages = 0;
    for (const pess__page *page = list->first; page != NULL; page = page->next) pages++;
    (void)pthread_mutex_lock(&pool->lock);
    list->last->next = pool->free;
    pool->free = list->first;
    pool->in_use -= pages;
    (void)pthread_mutex_unlock(&pool->lock);
    *list = (pess__page_list){0};
}

void pess__page_list_release(pess__page_pool *pool, pess__page_list *list) {
    const bool small = pool->arenas <= 1; /* not worth a call for each page: kept until the end */
    int64_t pages = 0;
    for (pess__page *page = list->first; page != NULL; pages++) {
        pess__page *next = page->next;
        if (!small) (void)madvise(page, PESS__PAGE_BYTES, MADV_DONTNEED); /* refused where pages are larger: kept too */
        page = next;
    }
    (void)pthread_mutex_lock(&pool->lock);
    pool->in_use -= pages;
    (void)pthread_mutex_unlock(&pool->lock);
    *list = (pess__page_list){0};
}
