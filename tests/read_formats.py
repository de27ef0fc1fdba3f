#!/usr/bin/env python3
"""Reads a crawl's directory with other tools: warcio (WARC), pywb (CDXJ), pyarrow (Parquet), py-wacz (WACZ).

    read_formats.py DIR [FRESHET]

Checks that every record is intact and its digest right, that the index equals the one pywb makes of the same
files, that revisits refer to responses that exist, and that the History has the documented columns, is
sorted, and has every visit once.

With the program FRESHET it also checks what freshet exports of the directory (WARC, WACZ, Parquet), and that
it imports files of other tools: WARC files of warcio and wget, indexes of pywb, sitemaps, lists of URLs.

Exits with 1 and says what is wrong if anything is.
"""

import glob
import hashlib
import http.server
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile

import pyarrow
import pyarrow.parquet
from pywb.indexer.cdxindexer import write_cdx_index
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

COLUMNS = {
    "visit": "uint64", "time": "timestamp[ms, tz=UTC]", "site": "string", "url": "string", "page": "uint32",
    "kind": "string",
    "status": "uint16", "bytes": "uint64", "millis": "uint32", "raw_digest": "fixed_size_binary[16]",
    "text_digest": "fixed_size_binary[16]", "simhash": "uint64", "change_size": "float",
    "last_modified": "timestamp[ms, tz=UTC]",
    "moved_to": "string", "segment": "uint32", "offset": "uint64", "length": "uint32", "error": "string",
    "change_kinds": "string",
    "reason": "string",
}

problems = []


def expect(condition, problem):
    if not condition:
        problems.append(problem)


def read_segment(path):
    """Every record of a segment, read with warcio, as a dict."""
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
                "type": record.rec_type, "url": head.get_header("WARC-Target-URI"),
                "date": head.get_header("WARC-Date"),
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
            expect(record["refers_to"] in responses,
                   f"a revisit refers to {record['refers_to']}, which is not there")
        if record["concurrent"]:
            expect(record["concurrent"] in identifiers,
                   f"a record goes with {record['concurrent']}, which is not there")
    options = type("Options", (), {"inputs": paths, "verbose": False})
    check = Checker(options)
    for path in paths:
        check.process_one(path)
    expect(check.exit_value == 0, "warcio check found a wrong digest")
    return everything


def lines_of(text):
    """The lines of an index as (key, time, fields)."""
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
            expect(mine is None or mine[:2] == line[:2],
                   f"{name} at {offset}: key {mine and mine[:2]}, pywb says {line[:2]}")
            for field, value in line[2].items():
                expect(mine is None or mine[2].get(field) == value,
                       f"{name} at {offset}: {field} is {mine and mine[2].get(field)!r}, pywb says {value!r}")
        wanted = sum(record["type"] in ("response", "revisit") for record in records)
        expect(wanted == len(ours),
               f"{name} has {wanted} responses and revisits, its index {len(ours)} lines")
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
            expect(record["url"] == row["url"],
                   f"visit {row['visit']} to {row['url']} has a record of {record['url']}")
    return len(visits)


def run(freshet, *arguments):
    done = subprocess.run([freshet, *arguments], capture_output=True, text=True)
    expect(done.returncode == 0, f"freshet {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def check_exports(freshet, directory, place):
    """The exports hold what the directory holds, as other tools read them."""
    kept = sum(record["type"] in ("response", "revisit")
               for path in glob.glob(os.path.join(directory, "collection", "*.warc.gz"))
               for record in read_segment(path))
    warc, wacz, parquet = (os.path.join(place, "export." + end) for end in ("warc.gz", "wacz", "parquet"))
    for path in (warc, wacz, parquet):
        run(freshet, "export", "--dir", directory, "--out", path)
    records = read_segment(warc)
    exported = [record for record in records if record["type"] in ("response", "revisit")]
    responses = {(record["url"], record["date"]) for record in records if record["type"] == "response"}
    expect(0 < len(exported) <= kept, f"{warc} has {len(exported)} versions of {kept}")
    for record in exported:
        expect(record["type"] != "revisit" or record["refers_to"] in responses,
               f"{warc}: a revisit without its response")
    check_wacz(wacz, len(exported))
    rows = pyarrow.parquet.read_table(parquet)
    expect({field.name: str(field.type) for field in rows.schema} == COLUMNS, f"{parquet} has other columns")
    expect(rows.num_rows > 0, f"{parquet} is empty")
    return len(exported), rows.num_rows


def check_wacz(path, versions):
    with zipfile.ZipFile(path) as package:
        expect(package.testzip() is None, f"{path}: a checksum is wrong")
        described = json.loads(package.read("datapackage.json"))
        for resource in described["resources"]:
            content = package.read(resource["path"])
            expect(len(content) == resource["bytes"], f"{path}: {resource['path']} has another length")
            expect("sha256:" + hashlib.sha256(content).hexdigest() == resource["hash"],
                   f"{path}: {resource['path']} has another digest")
        stated = json.loads(package.read("datapackage-digest.json"))["hash"]
        expect(stated == "sha256:" + hashlib.sha256(package.read("datapackage.json")).hexdigest(),
               f"{path}: its own digest is another")
        lines = list(lines_of(package.read("indexes/index.cdxj").decode()))
        expect(len(lines) == versions, f"{path} lists {len(lines)} of {versions} versions")
        warc = package.read("archive/data.warc.gz")
        for _, _, fields in lines:
            record = next(iter(ArchiveIterator(io.BytesIO(warc[int(fields["offset"]):]))))
            expect(record.rec_headers.get_header("WARC-Target-URI") == fields["url"],
                   f"{path}: {fields['offset']} is another URL")
        pages = [json.loads(line) for line in package.read("pages/pages.jsonl").decode().splitlines()]
        expect(pages[0]["format"] == "json-pages-1.0" and len(pages) > 1, f"{path} has no pages")
    validator = os.path.join(os.path.dirname(sys.executable), "wacz")
    if os.path.exists(validator):
        done = subprocess.run([validator, "validate", "-f", path], capture_output=True, text=True)
        expect(done.returncode == 0, f"wacz validate {path}: {done.stdout} {done.stderr}")


PAGES = ["<title>One</title><p>The first of all texts of this page.",
         "<title>Two</title><p>A second text, quite unlike what was there before it."]


def check_imports(freshet, place):
    """Imports a WARC file with versions of one page, then an index, a sitemap and a list of URLs."""
    url = "http://imported.example/page"
    warc = os.path.join(place, "other.warc.gz")
    with open(warc, "wb") as file:
        writer = WARCWriter(file, gzip=True)
        for day, body in enumerate(PAGES + PAGES[1:], start=1):
            head = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
            writer.write_record(writer.create_warc_record(
                url, "response", payload=io.BytesIO(body.encode()), http_headers=head,
                warc_headers_dict={"WARC-Date": f"2020-01-0{day}T12:00:00Z"}))
    crawl = os.path.join(place, "imported")
    for expected in (3, 0):
        done = json.loads(run(freshet, "import", warc, "--dir", crawl, "--json") or "{}")
        expect(done.get("visits") == expected, f"{warc}: {done}, wanted {expected} visits")
    for day, body in ((1, PAGES[0]), (2, PAGES[1]), (3, PAGES[1])):
        said = run(freshet, "cat", url, "--at", f"2020-01-0{day}", "--dir", crawl)
        expect(said == body, f"the page of day {day} says {said!r}")
    account = json.loads(run(freshet, "explain", url, "--dir", crawl, "--json") or "{}")
    expect((account.get("visits"), account.get("changes")) == (3, 1),
           f"of the imported page is known: {account}")
    check_sound(freshet, crawl)

    index = io.BytesIO()
    with open(warc, "rb") as file:
        write_cdx_index(index, file, "other.warc.gz", sort=True, cdxj=True)
    listed = os.path.join(place, "index.cdxj")
    with open(listed, "wb") as file:
        file.write(index.getvalue())
    sitemap = os.path.join(place, "sitemap.xml")
    with open(sitemap, "w", encoding="utf-8") as file:
        file.write("<urlset><url><loc>http://imported.example/listed</loc>"
                   "<lastmod>2026-01-01</lastmod></url></urlset>")
    urls = os.path.join(place, "urls.txt")
    with open(urls, "w", encoding="utf-8") as file:
        file.write("# a list\nhttp://imported.example/named\nmailto:nobody\n")
    crawl = os.path.join(place, "indexed")
    done = json.loads(run(freshet, "import", listed, sitemap, urls, "--dir", crawl, "--json") or "{}")
    expect((done.get("visits"), done.get("urls"), done.get("with_content")) == (3, 2, 0),
           f"{listed}, {sitemap}, {urls}: {done}")
    account = json.loads(run(freshet, "explain", url, "--dir", crawl, "--json") or "{}")
    expect((account.get("visits"), account.get("changes")) == (3, 1),
           f"of the indexed page is known: {account}")
    check_sound(freshet, crawl)


def check_wget(freshet, place):
    """Imports what wget archives."""
    if not shutil.which("wget"):
        return

    class Site(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = b"<title>Fetched</title><p>A page that wget has fetched and archived."
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/page"
    subprocess.run(["wget", "-q", "-O", os.devnull, "--warc-file", os.path.join(place, "wget"), url],
                   check=True, cwd=place)
    server.shutdown()
    crawl = os.path.join(place, "wgot")
    done = json.loads(run(freshet, "import", os.path.join(place, "wget.warc.gz"), "--dir", crawl, "--json")
                      or "{}")
    expect(done.get("with_content") == 1 and not done.get("faults"), f"wget.warc.gz: {done}")
    said = run(freshet, "cat", url, "--dir", crawl)
    expect("that wget has fetched" in said, f"the page of wget says {said!r}")
    check_sound(freshet, crawl)


def check_sound(freshet, crawl):
    done = subprocess.run([freshet, "fsck", crawl], capture_output=True, text=True)
    expect(done.returncode == 0, f"fsck {crawl}: {done.stdout} {done.stderr}")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    directory = sys.argv[1]
    everything = check_collection(directory)
    lines = check_index(directory, everything)
    visits = check_history(directory, everything)
    exported = ""
    if len(sys.argv) == 3:
        with tempfile.TemporaryDirectory() as place:
            versions, rows = check_exports(sys.argv[2], directory, place)
            check_imports(sys.argv[2], place)
            check_wget(sys.argv[2], place)
        exported = f"; {versions} versions and {rows} visits exported, others' files imported"
    for problem in problems[:50]:
        print(problem, file=sys.stderr)
    if problems:
        sys.exit(f"{len(problems)} problems")
    records = sum(len(records) for records in everything.values())
    print(f"{directory}: {len(everything)} segments with {records} records, {lines} index lines, {visits} "
          f"visits{exported}: all is well")


if __name__ == "__main__":
    main()
