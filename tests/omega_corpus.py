"""Makes a corpus for the sampling test: omega_corpus.py DIRECTORY DOCUMENTS SEED.

HTML documents of 40 to 400 words. Each is about one of 40 topics: two thirds of its words are common to all
documents and one third are the topic's own, both distributed by Zipf's law. Words are made of syllables and
end in -o, which an English stemmer leaves unchanged.
"""

import random
import sys
from bisect import bisect
from itertools import accumulate
from pathlib import Path

TOPICS, COMMON, OWN = 40, 8000, 1500


def make_words(chance, number):
    words = set()
    while len(words) < number:
        syllables = chance.choice((2, 3, 3, 4))
        words.add("".join(chance.choice("bdfgklmnprtvz") + chance.choice("aiu")
                          for _ in range(syllables)) + "ko")
    return sorted(words)


def zipf(number):
    return list(accumulate(1.0 / (rank + 2) for rank in range(number)))


def main():
    directory, documents, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(seed)
    words = make_words(chance, COMMON + TOPICS * OWN)
    chance.shuffle(words)
    common, own = words[:COMMON], words[COMMON:]
    shared, special = zipf(COMMON), zipf(OWN)
    for number in range(documents):
        topic = chance.randrange(TOPICS)
        text = []
        for _ in range(chance.randint(40, 400)):
            if chance.random() < 0.67:
                text.append(common[bisect(shared, chance.random() * shared[-1])])
            else:
                text.append(own[topic * OWN + bisect(special, chance.random() * special[-1])])
        folder = directory / f"{number // 500:03}"
        folder.mkdir(parents=True, exist_ok=True)
        body = " ".join(text)
        page = (f"<!doctype html><html lang=en><head><title>{text[0]} {text[1]}</title></head>"
                f"<body><p>{body}</p></body></html>\n")
        (folder / f"{number:05}.html").write_text(page)


main()
