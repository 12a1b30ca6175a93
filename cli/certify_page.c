#include "certify_page.h"

#include <string.h>

pess_status certify_page_write(const certify_page *page, pess_error *error) {
    (void)page;
    (void)error;
    return PESS_OK;
}

void certify_page_free(certify_page *page) {
    pess_dataset_destroy(page->data);
    pess_counts_destroy(page->counts);
    pess_model_destroy(page->model);
    memset(page, 0, sizeof *page);
}
