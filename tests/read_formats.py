#!/usr/bin/env python3
"""Reads a crawl's directory with the tools of others: WARC with warcio, CDXJ with pywb's indexer, Parquet with pyarrow.

    read_formats.py DIR

Checks that every record is whole and its digest right, that the index is the one that pywb makes of the same files, that revisits
refer to responses that are there, and that the History has the documented columns, is sorted, and counts every visit once.
Exits with 1 and says what is wrong if anything is.
"""

import glob
import io
import json
import os
import re
import sys

import pyarrow
import pyarrow.parquet
from pywb.indexer.cdxindexer import write_cdx_index
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

COLUMNS = {
    "visit": "uint64", "time": "timestamp[ms, tz=UTC]", "site": "string", "url": "string", "page": "uint32", "kind": "string",
    "status": "uint16", "bytes": "uint64", "millis": "uint32", "raw_digest": "fixed_size_binary[16]",
    "text_digest": "fixed_size_binary[16]", "simhash": "uint64", "change_size": "float", "last_modified": "timestamp[ms, tz=UTC]",
    "moved_to": "string", "segment": "uint32", "offset": "uint64", "length": "uint32", "error": "string",
}

problems = []


def expect(condition, problem):
    if not condition:
        problems.append(problem)


def read_segment(path):
    """Every record of a segment, with warcio: (offset, length, type, url, date, status, body bytes)."""
    records = []
    with open(path, "rb") as file:
        iterator = ArchiveIterator(file, check_digests=True)
        for record in iterator:
            body = record.content_stream().read()
            status = record.http_headers.get_statuscode() if record.http_headers else None
            checker = record.digest_checker
            expect(checker.passed is not False, f"{path}: a digest is wrong: {checker.problems}")
            head = record.rec_headers
            records.append({
                "type": record.rec_type, "url": head.get_header("WARC-Target-URI"), "date": head.get_header("WARC-Date"),
                "status": status, "bytes": len(body), "offset": iterator.get_record_offset(),
                "length": iterator.get_record_length(), "refers_to": (
                    head.get_header("WARC-Refers-To-Target-URI"), head.get_header("WARC-Refers-To-Date")),
                "id": head.get_header("WARC-Record-ID"), "concurrent": head.get_header("WARC-Concurrent-To"),
            })
    return records


def check_collection(directory):
    paths = sorted(glob.glob(os.path.join(directory, "collection", "*.warc.gz")))
    expect(paths, "there is no segment")
    everything = {}
    for path in paths:
        records = read_segment(path)
        expect(records[0]["type"] == "warcinfo", f"{path} does not begin with a warcinfo record")
        everything[os.path.basename(path)] = records
    flat = [record for records in everything.values() for record in records]
    identifiers = [record["id"] for record in flat]
    expect(len(set(identifiers)) == len(identifiers), "two records have the same identifier")
    responses = {(record["url"], record["date"]) for record in flat if record["type"] == "response"}
    for record in flat:
        if record["type"] == "revisit":
            expect(record["refers_to"] in responses, f"a revisit refers to {record['refers_to']}, which is not there")
        if record["concurrent"]:
            expect(record["concurrent"] in identifiers, f"a record goes with {record['concurrent']}, which is not there")
    options = type("Options", (), {"inputs": paths, "verbose": False})
    check = Checker(options)
    for path in paths:
        check.process_one(path)
    expect(check.exit_value == 0, "warcio check found a wrong digest")
    return everything


def lines_of(text):
    """Lines of an index as (key, time, fields)."""
    for line in text.splitlines():
        key, time, fields = line.split(" ", 2)
        yield key, time, json.loads(fields)


def check_index(directory, everything):
    count = 0
    for name, records in everything.items():
        path = os.path.join(directory, "collection", name)
        ours_path = re.sub(r"\.warc\.gz$", ".cdxj", path)
        if not os.path.exists(ours_path):
            problems.append(f"{ours_path} is missing")
            continue
        with open(ours_path, encoding="utf-8") as file:
            text = file.read()
        expect(text.splitlines() == sorted(text.splitlines()), f"{ours_path} is not sorted")
        ours = list(lines_of(text))
        made = io.BytesIO()
        with open(path, "rb") as file:
            write_cdx_index(made, file, name, sort=True, cdxj=True)
        theirs = [line for line in lines_of(made.getvalue().decode()) if not line[0].startswith("!")]
        ours_by_place = {line[2]["offset"]: line for line in ours}
        theirs_by_place = {line[2]["offset"]: line for line in theirs}
        expect(ours_by_place.keys() == theirs_by_place.keys(),
               f"{ours_path} lists {len(ours)} records, pywb {len(theirs)}")
        for offset, line in theirs_by_place.items():
            mine = ours_by_place.get(offset)
            expect(mine is None or mine[:2] == line[:2], f"{name} at {offset}: key {mine and mine[:2]}, pywb says {line[:2]}")
            for field, value in line[2].items():
                expect(mine is None or mine[2].get(field) == value,
                       f"{name} at {offset}: {field} is {mine and mine[2].get(field)!r}, pywb says {value!r}")
        wanted = sum(record["type"] in ("response", "revisit") for record in records)
        expect(wanted == len(ours), f"{name} has {wanted} responses and revisits, its index {len(ours)} lines")
        count += len(ours)
    return count


def check_history(directory, everything):
    visits = []
    for path in sorted(glob.glob(os.path.join(directory, "history", "*.parquet"))):
        table = pyarrow.parquet.read_table(path)
        found = {field.name: str(field.type) for field in table.schema}
        expect(found == COLUMNS, f"{path} has the columns {found}")
        rows = table.to_pylist()
        order = [(row["site"], row["url"], row["time"], row["visit"]) for row in rows]
        expect(order == sorted(order), f"{path} is not sorted")
        visits.extend(rows)
    numbers = sorted(row["visit"] for row in visits)
    expect(len(set(numbers)) == len(numbers), "a visit is there twice")
    for row in visits:
        if row["segment"] is None:
            continue
        name = f"segment-{row['segment']:08}.warc.gz"
        places = {(record["offset"], record["length"]): record for record in everything.get(name, [])}
        record = places.get((row["offset"], row["length"]))
        expect(record is not None, f"visit {row['visit']} has no record at byte {row['offset']} of {name}")
        if record:
            expect(record["url"] == row["url"], f"visit {row['visit']} to {row['url']} has a record of {record['url']}")
    return len(visits)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    directory = sys.argv[1]
    everything = check_collection(directory)
    lines = check_index(directory, everything)
    visits = check_history(directory, everything)
    for problem in problems[:50]:
        print(problem, file=sys.stderr)
    if problems:
        sys.exit(f"{len(problems)} problems")
    records = sum(len(records) for records in everything.values())
    print(f"{directory}: {len(everything)} segments with {records} records, {lines} index lines, {visits} visits: all is well")


if __name__ == "__main__":
    main()
