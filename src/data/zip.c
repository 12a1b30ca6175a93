#include "data/zip.h"

#include "core/memory.h"
#include "data/columns.h"

#include <stdlib.h>
#include <string.h>

/* Layout: PKWARE's APPNOTE 6.3. */
enum { END_SIZE = 22, END64_SIZE = 56, LOCATOR_SIZE = 20, CENTRAL_SIZE = 46, LOCAL_SIZE = 30 };
enum { LONGEST_COMMENT = 65535, MOST_ENTRIES = 1 << 16, LARGEST_DIRECTORY = 1 << 24, INPUT_BUFFER = 1 << 16 };

static pess_status damaged(const pess__infile *file, const char *what, pess_error *error) {
    return pess__fail(error, PESS_INPUT, "%s: %s: the zip file is damaged or truncated", pess__infile_name(file), what);
}

/* ------------------------------------------------------------------------------------------------ directory */

/* The end record stands at the end of the file, before a comment of its own. */
static pess_status find_end(pess__zip *zip, uint8_t end[END_SIZE], int64_t *where, pess_error *error) {
    const int64_t size = zip->file_size;
    if (size < END_SIZE) return damaged(zip->file, "it is shorter than a zip file can be", error);
    const int64_t span = size < END_SIZE + LONGEST_COMMENT ? size : END_SIZE + LONGEST_COMMENT;
    uint8_t *tail = NULL;
    PESS_TRY(pess__allocate(&tail, span, 1, "a zip directory", error));
    pess_status status = pess__infile_at(zip->file, size - span, tail, (size_t)span, error);
    *where = -1;
    for (int64_t at = span - END_SIZE; status == PESS_OK && at >= 0 && *where < 0; at--)
        if (memcmp(tail + at, "PK\5\6", 4) == 0 && at + END_SIZE + (int64_t)pess__get16(tail + at + 20) == span) {
            memcpy(end, tail + at, END_SIZE);
            *where = size - span + at;
        }
    free(tail);
    if (status == PESS_OK && *where < 0) status = damaged(zip->file, "found no end record", error);
    return status;
}

/* Number of entries, offset and size of the directory, from the 32-bit or the 64-bit end record. */
static pess_status find_directory(pess__zip *zip, uint64_t *count, uint64_t *offset, uint64_t *bytes,
                                  pess_error *error) {
    uint8_t end[END_SIZE] = {0}, locator[LOCATOR_SIZE], end64[END64_SIZE];
    int64_t where = 0;
    PESS_TRY(find_end(zip, end, &where, error));
    if (pess__get16(end + 4) != pess__get16(end + 6)) return damaged(zip->file, "it has several parts", error);
    *count = pess__get16(end + 10);
    *bytes = pess__get32(end + 12);
    *offset = pess__get32(end + 16);
    if ((*count == 0xFFFF || *bytes == 0xFFFFFFFF || *offset == 0xFFFFFFFF) && where >= LOCATOR_SIZE) {
        PESS_TRY(pess__infile_at(zip->file, where - LOCATOR_SIZE, locator, LOCATOR_SIZE, error));
        if (memcmp(locator, "PK\6\7", 4) == 0) {
            const uint64_t at = pess__get64(locator + 8);
            if (at > (uint64_t)where) return damaged(zip->file, "the 64-bit end record is outside of it", error);
            PESS_TRY(pess__infile_at(zip->file, (int64_t)at, end64, END64_SIZE, error));
            if (memcmp(end64, "PK\6\6", 4) != 0) return damaged(zip->file, "found no 64-bit end record", error);
            *count = pess__get64(end64 + 32);
            *bytes = pess__get64(end64 + 40);
            *offset = pess__get64(end64 + 48);
        }
    }
    if (*count > MOST_ENTRIES || *bytes > LARGEST_DIRECTORY || *offset > (uint64_t)where ||
        *bytes > (uint64_t)where - *offset || *count * CENTRAL_SIZE > *bytes)
        return damaged(zip->file, "its directory does not fit", error);
    return PESS_OK;
}

/* ZIP64 extra field: the sizes that are 0xFFFFFFFF in the entry, in this order. */
static bool read_extra(const uint8_t *extra, size_t length, uint64_t *size, uint64_t *packed, uint64_t *local) {
    for (size_t at = 0; at + 4 <= length;) {
        const size_t bytes = pess__get16(extra + at + 2);
        if (bytes > length - at - 4) return false;
        if (pess__get16(extra + at) == 1) {
            const uint8_t *from = extra + at + 4, *end = from + bytes;
            uint64_t *const fields[] = {size, packed, local};
            for (int i = 0; i < 3; i++) {
                if (fields[i] == NULL || *fields[i] != 0xFFFFFFFF) continue;
                if (end - from < 8) return false;
                *fields[i] = pess__get64(from);
                from += 8;
            }
            return true;
        }
        at += 4 + bytes;
    }
    return true;
}

static pess_status read_entry(pess__zip *zip, const uint8_t *at, const uint8_t *end, pess__zip_entry *entry,
                              size_t *length, pess_error *error) {
    if (end - at < CENTRAL_SIZE || memcmp(at, "PK\1\2", 4) != 0)
        return damaged(zip->file, "its directory is broken", error);
    const size_t name = pess__get16(at + 28), extra = pess__get16(at + 30), comment = pess__get16(at + 32);
    *length = CENTRAL_SIZE + name + extra + comment;
    if ((size_t)(end - at) < *length) return damaged(zip->file, "its directory is broken", error);
    uint64_t packed = pess__get32(at + 20), size = pess__get32(at + 24), local = pess__get32(at + 42);
    if (!read_extra(at + CENTRAL_SIZE + name, extra, &size, &packed, &local))
        return damaged(zip->file, "its directory is broken", error);
    const uint64_t limit = (uint64_t)zip->directory;
    if (local > limit || packed > limit - local || size > INT64_MAX / 2)
        return damaged(zip->file, "a member lies outside of it", error);
    entry->flags = pess__get16(at + 8);
    entry->method = pess__get16(at + 10);
    entry->crc = pess__get32(at + 16);
    entry->packed = (int64_t)packed;
    entry->size = (int64_t)size;
    entry->local = (int64_t)local;
    const size_t kept = name < sizeof entry->name ? name : sizeof entry->name - 1;
    memcpy(entry->name, at + CENTRAL_SIZE, kept);
    entry->name[kept] = '\0';
    return PESS_OK;
}

/* Its directory stands at the end: what does not begin as an archive is not read that far. */
static pess_status check_beginning(pess__infile *file, pess_error *error) {
    uint8_t head[4];
    size_t got = 0;
    PESS_TRY(pess__infile_head(file, head, sizeof head, &got, error));
    if (got == sizeof head && (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0)) return PESS_OK;
    return pess__fail(error, PESS_INPUT, "%s: is no .npz file (its first bytes are not those of a zip archive)",
                      pess__infile_name(file));
}

pess_status pess__zip_open(pess__infile *file, pess__zip *zip, pess_error *error) {
    *zip = (pess__zip){.file = file};
    uint64_t count = 0, offset = 0, bytes = 0;
    PESS_TRY(check_beginning(file, error));
    PESS_TRY(pess__infile_size(file, &zip->file_size, error));
    PESS_TRY(find_directory(zip, &count, &offset, &bytes, error));
    zip->directory = (int64_t)offset;
    zip->count = (int64_t)count;
    PESS_TRY(pess__allocate(&zip->entries, zip->count, sizeof *zip->entries, "a zip directory", error));
    uint8_t *directory = NULL;
    PESS_TRY(pess__allocate(&directory, (int64_t)bytes, 1, "a zip directory", error));
    pess_status status = pess__infile_at(file, zip->directory, directory, (size_t)bytes, error);
    size_t at = 0, length = 0;
    for (int64_t i = 0; status == PESS_OK && i < zip->count; i++, at += length)
        status = read_entry(zip, directory + at, directory + bytes, &zip->entries[i], &length, error);
    free(directory);
    return status;
}

void pess__zip_free(pess__zip *zip) { free(zip->entries); }

/* ------------------------------------------------------------------------------------------------ members */

static pess_status bad_member(const pess__zip_member *member, const char *what, pess_error *error) {
    return pess__fail(error, PESS_INPUT, "%s: member '%s': %s", pess__infile_name(member->zip->file),
                      member->entry->name, what);
}

/* The local header repeats the entry; where the two differ the file was tampered with or damaged. */
static pess_status find_data(pess__zip_member *member, pess_error *error) {
    const pess__zip_entry *entry = member->entry;
    uint8_t local[LOCAL_SIZE];
    PESS_TRY(pess__infile_at(member->zip->file, entry->local, local, LOCAL_SIZE, error));
    const uint32_t name = pess__get16(local + 26), extra = pess__get16(local + 28);
    if (memcmp(local, "PK\3\4", 4) != 0 || pess__get16(local + 8) != entry->method)
        return bad_member(member, "its local header differs from the directory", error);
    uint8_t *rest = NULL;
    PESS_TRY(pess__allocate(&rest, (int64_t)name + extra, 1, "a zip header", error));
    pess_status status = pess__infile_at(member->zip->file, entry->local + LOCAL_SIZE, rest, name + extra, error);
    uint64_t packed = pess__get32(local + 18), size = pess__get32(local + 22);
    const bool later = (pess__get16(local + 6) & 8) != 0; /* sizes stand behind the data */
    if (status == PESS_OK && (!read_extra(rest + name, extra, &size, &packed, NULL) || strlen(entry->name) != name ||
                              memcmp(rest, entry->name, name) != 0 ||
                              (!later && (packed != (uint64_t)entry->packed || size != (uint64_t)entry->size))))
        status = bad_member(member, "its local header differs from the directory", error);
    free(rest);
    member->at = entry->local + LOCAL_SIZE + name + extra;
    if (status == PESS_OK && entry->packed > member->zip->directory - member->at)
        status = bad_member(member, "its data lie outside of the file", error);
    return status;
}

pess_status pess__zip_member_open(const pess__zip *zip, const pess__zip_entry *entry, pess__zip_member *member,
                                  pess_error *error) {
    *member = (pess__zip_member){.zip = zip, .entry = entry, .left = entry->packed};
    if ((entry->flags & 1) != 0) return bad_member(member, "it is encrypted, expected plain data", error);
    if (entry->method != 0 && entry->method != 8)
        return bad_member(member, "its compression is unknown, expected stored or deflated data", error);
    if (entry->method == 0 && entry->packed != entry->size) return bad_member(member, "its two sizes differ", error);
    PESS_TRY(find_data(member, error));
    if (entry->method == 0) return PESS_OK;
    PESS_TRY(pess__allocate(&member->packed, INPUT_BUFFER, 1, "decompression", error));
    if (inflateInit2(&member->stream, -15) != Z_OK)
        return pess__fail(error, PESS_MEMORY, "not enough memory for decompression");
    member->inflating = true;
    return PESS_OK;
}

static pess_status inflate_some(pess__zip_member *member, uint8_t *buffer, size_t size, pess_error *error) {
    z_stream *z = &member->stream;
    z->next_out = buffer;
    z->avail_out = (uInt)size;
    while (z->avail_out > 0) {
        if (z->avail_in == 0 && member->left > 0) {
            const size_t part = member->left < INPUT_BUFFER ? (size_t)member->left : INPUT_BUFFER;
            PESS_TRY(pess__infile_at(member->zip->file, member->at, member->packed, part, error));
            member->at += (int64_t)part;
            member->left -= (int64_t)part;
            z->next_in = member->packed;
            z->avail_in = (uInt)part;
        }
        const int result = inflate(z, Z_NO_FLUSH);
        if (result == Z_STREAM_END && z->avail_out > 0) return bad_member(member, "its data end early", error);
        if (result != Z_OK && result != Z_STREAM_END)
            return bad_member(member, "its compressed data are damaged", error);
    }
    return PESS_OK;
}

/* After the last byte that the directory promises the stream has to be over. */
static bool goes_on(pess__zip_member *member) {
    uint8_t more = 0;
    if (!member->inflating) return false;
    member->stream.next_out = &more;
    member->stream.avail_out = 1;
    return inflate(&member->stream, Z_NO_FLUSH) != Z_STREAM_END || member->stream.avail_out == 0;
}

pess_status pess__zip_member_read(pess__zip_member *member, void *buffer, size_t size, pess_error *error) {
    if ((int64_t)size > member->entry->size - member->unpacked) return bad_member(member, "its data end early", error);
    uint8_t *to = buffer;
    for (size_t done = 0; done < size;) {
        const size_t part = size - done < (1u << 30) ? size - done : (1u << 30);
        if (member->inflating) {
            PESS_TRY(inflate_some(member, to + done, part, error));
        } else {
            PESS_TRY(pess__infile_at(member->zip->file, member->at, to + done, part, error));
            member->at += (int64_t)part;
        }
        member->crc = (uint32_t)crc32_z(member->crc, to + done, part);
        done += part;
    }
    member->unpacked += (int64_t)size;
    if (member->unpacked == member->entry->size && member->crc != member->entry->crc)
        return bad_member(member, "its checksum is wrong: the file is damaged", error);
    if (member->unpacked == member->entry->size && size > 0 && member->left == 0 && goes_on(member))
        return bad_member(member, "its data are longer than the directory says", error);
    return PESS_OK;
}

void pess__zip_member_close(pess__zip_member *member) {
    if (member->inflating) (void)inflateEnd(&member->stream);
    free(member->packed);
    *member = (pess__zip_member){0};
}
