/* Lists of items that grow and shrink in pages, so that memory is never held twice and goes back to the system page by
 * page. The first pages of a pool are small and stay until its end; those of a large pool are eight times as large, for
 * each that is given back costs a call in which all processors take part. Lists of one pool may be changed by several
 * threads, each list by one at a time. */
#ifndef PESS_CORE_PAGES_H
#define PESS_CORE_PAGES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PESS__PAGE_BYTES = 4096 };

typedef struct pess__page {
    struct pess__page *next;
    int32_t used, room; /* bytes of what follows */
    max_align_t items[];
} pess__page;

typedef struct pess__page_list {
    pess__page *first, *last;
    int64_t items;
} pess__page_list;

typedef struct pess__page_pool {
    pthread_mutex_t lock; /* for what follows */
    uint8_t **arena;      /* [arenas] */
    int64_t arenas, arena_capacity;
    int64_t taken;            /* of the last arena, in small pages: handed out once */
    pess__page *free, *large; /* handed back */
    int64_t in_use;           /* pages in lists, a large one counts as so many small ones */
} pess__page_pool;

void pess__page_pool_begin(pess__page_pool *pool);
void pess__page_pool_free(pess__page_pool *pool); /* and all lists with it */

/* An empty page behind the last one; false: out of memory. */
bool pess__page_list_grow(pess__page_pool *pool, pess__page_list *list);

/* Room for one more item; NULL: out of memory. */
static inline void *pess__page_list_put(pess__page_pool *pool, pess__page_list *list, size_t item) {
    if ((list->last == NULL || list->last->used + (int32_t)item > list->last->room) &&
        !pess__page_list_grow(pool, list))
        return NULL;
    void *room = (uint8_t *)list->last->items + list->last->used;
    list->last->used += (int32_t)item;
    list->items++;
    return room;
}

/* Adds the items of `other` behind those of `list`; `other` is empty then. */
void pess__page_list_join(pess__page_list *list, pess__page_list *other);
/* Empties the list; its pages serve the next list that grows. */
void pess__page_list_recycle(pess__page_pool *pool, pess__page_list *list);
/* Empties the list; its memory goes back to the system. */
void pess__page_list_release(pess__page_pool *pool, pess__page_list *list);

/* One item after the other; item is the size the list was filled with. */
typedef struct pess__page_cursor {
    const pess__page *page;
    int64_t at;
} pess__page_cursor;

static inline const void *pess__page_next(pess__page_cursor *cursor, size_t item) {
    while (cursor->page != NULL && cursor->at >= cursor->page->used) {
        cursor->page = cursor->page->next;
        cursor->at = 0;
    }
    if (cursor->page == NULL) return NULL;
    const void *found = (const uint8_t *)cursor->page->items + cursor->at;
    cursor->at += (int64_t)item;
    return found;
}

#endif
