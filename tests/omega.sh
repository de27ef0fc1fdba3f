#!/usr/bin/env bash
# Samples a third-party search engine through its search interface: Xapian's omega behind lighttpd, over 6,000
# documents made from a seed. Compares the sampled summary with the exact one: weighted recall at least 0.7,
# precision at least 0.99, and the size within 30%.
set -euo pipefail
cd "$(dirname "$0")/.."

need_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }
if ! command -v omindex >/dev/null || [ ! -x /usr/sbin/lighttpd ]; then
  need_root apt-get update -qq
  # RUNLEVEL=1 keeps the package from starting its own server.
  need_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
    apt-get install -y -qq --no-install-recommends xapian-omega lighttpd
fi

place=$(mktemp -d)
server=
cleanup() {
  if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; fi
  rm -rf "$place"
}
trap cleanup EXIT

mkdir -p "$place"/{www/docs,cgi-bin,data,log,cdb}
python3 tests/omega_corpus.py "$place/www/docs" 6000 7
omindex --db "$place/data/default" --url /docs/ "$place/www/docs" >"$place/log/omindex" 2>&1
cp /usr/lib/cgi-bin/omega/omega "$place/cgi-bin/omega"
cat >"$place/omega.conf" <<CONF
database_dir $place/data
template_dir /usr/share/xapian-omega/templates
log_dir $place/log
cdb_dir $place/cdb
CONF
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >"$place/lighttpd.conf" <<CONF
server.document-root = "$place/www"
server.port = $port
server.bind = "127.0.0.1"
server.errorlog = "$place/log/lighttpd"
server.modules = ("mod_setenv", "mod_alias", "mod_cgi")
setenv.add-environment = ("OMEGA_CONFIG_FILE" => "$place/omega.conf")
alias.url = ("/cgi-bin/" => "$place/cgi-bin/")
cgi.assign = ("/omega" => "")
mimetype.assign = (".html" => "text/html; charset=utf-8")
CONF
/usr/sbin/lighttpd -D -f "$place/lighttpd.conf" &
server=$!
for _ in $(seq 100); do
  if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then break; fi
  sleep 0.1
done

freshet=${FRESHET:-}
if [ -z "$freshet" ]; then
  cargo build --quiet --locked -p freshet-cli
  freshet=target/debug/freshet
fi
home=(--home "$place/crawl")
"$freshet" db add exact --dir "$place/www/docs" "${home[@]}"
"$freshet" db sample exact "${home[@]}" --json >"$place/exact.json"
"$freshet" db add omega "${home[@]}" --search "http://127.0.0.1:$port/cgi-bin/omega?DB=default&P={query}" \
  --results 'table tr' --count '/(?:of about|of exactly|All) ([0-9,]+) matches/' \
  --start "$(python3 - "$place/exact.json" <<'PY'
import json, sys
print(" ".join(list(json.load(open(sys.argv[1]))["words"])[:5]))
PY
)"
"$freshet" db sample omega "${home[@]}" --allow-private --host-delay 0
"$freshet" db compare omega --with exact "${home[@]}"
"$freshet" db compare omega --with exact "${home[@]}" --json >"$place/compare.json"
python3 - "$place/compare.json" <<'PY'
import json, sys

found = json.load(open(sys.argv[1]))
sampled, exact = found["documents"]
print(
    f"weighted recall {found['weighted_recall']:.3f}, size {sampled:.0f} of {exact:.0f}, "
    f"precision {found['precision']:.3f}"
)
assert exact == 6000, "not all documents were indexed exactly"
assert found["weighted_recall"] >= 0.7, "the sample misses too much of the vocabulary"
assert found["precision"] >= 0.99, "the sample has words that the documents have not"
assert abs(sampled / exact - 1) <= 0.30, "the estimated size is off by more than 30%"
PY

# The same engine without match counts: the size is estimated from documents that came again, within a factor of
# two. Then a query is routed: the engine is selected and queried, and its results are returned.
word=$(python3 - "$place/exact.json" <<'PY'
import json, sys
print(list(json.load(open(sys.argv[1]))["words"])[10])
PY
)
"$freshet" db add blind "${home[@]}" --search "http://127.0.0.1:$port/cgi-bin/omega?DB=default&P={query}" \
  --results 'table tr' --start "$word"
"$freshet" db sample blind "${home[@]}" --allow-private --host-delay 0 --json >"$place/blind.json"
"$freshet" db select "$word" "${home[@]}"
"$freshet" db search "$word" "${home[@]}" --top 2 --allow-private --host-delay 0 --json >"$place/search.json"
python3 - "$place/blind.json" "$place/search.json" <<'PY'
import json, sys
facts = json.load(open(sys.argv[1]))["facts"]
size = facts["size"]["estimated"]
print(f"without counts: size {size['documents']:.0f} ({size['low']:.0f} to {size['high']:.0f}) of 6000")
assert 3000 <= size["documents"] <= 12000, size
assert any("came again" in note for note in facts["notes"]), facts["notes"]
results = json.load(open(sys.argv[2]))["results"]
assert results and all("/docs/" in result["url"] for result in results), results
assert set(results[0]["databases"]) == {"omega", "blind"}, results[0]
PY
