#!/usr/bin/env python3
"""Verifies the signature of an evidence folder, offline and without Quietcore.

    verify_evidence.py FOLDER KEY

KEY is the machine's public key as PEM, had from the machine by another way than the folder. Prints
the verdict that was signed. Status 0: the folder is as it was signed by that key. Status 1: not.
A page that is not there is named and is no fault: it is made from the other files, and proves nothing.
"""

import hashlib
import json
import pathlib
import sys

from cryptography.hazmat.primitives.serialization import load_pem_public_key
from google.protobuf.json_format import Parse
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.statement import Statement
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey

SIGNATURE = "evidence.intoto.json"
PAYLOAD_TYPE = "application/vnd.in-toto+json"
PREDICATE_TYPE = "urn:quietcore:timing-evidence:1"
# Made from the other files, which are the evidence.
PAGES = {"evidence.json", "report.html", "junit.xml"}


def verify(folder: pathlib.Path, key_file: pathlib.Path) -> tuple[dict, list[str]]:
    """Returns the statement and the pages that are gone, or raises an error that says what does not hold."""
    document = json.loads((folder / SIGNATURE).read_text())
    envelope = Envelope.from_dict(document)
    # The name of the key in the envelope is a hint. What counts is the key that was given.
    public_key = load_pem_public_key(key_file.read_bytes())
    keys = [SSlibKey.from_crypto(public_key, keyid=name) for name in envelope.signatures]
    envelope.verify(keys, 1)

    text = envelope.payload.decode()
    statement = Parse(text, statement_pb2.Statement())
    Statement.copy_from_pb(statement).validate()
    types = (envelope.payload_type, statement.predicate_type)
    if types != (PAYLOAD_TYPE, PREDICATE_TYPE):
        raise ValueError(f"it is something else: {types}")

    signed = {subject.name: subject.digest["sha256"] for subject in statement.subject}
    there = {
        path.relative_to(folder).as_posix(): path
        for path in folder.rglob("*")
        if path.is_symlink() or not path.is_dir()
    }
    del there[SIGNATURE]
    gone = signed.keys() - there.keys()
    wrong = (there.keys() - signed.keys()) | (gone - PAGES)
    if wrong:
        raise ValueError(f"added or missing: {sorted(wrong)}")
    for name, path in there.items():
        if path.is_symlink() or hashlib.sha256(path.read_bytes()).hexdigest() != signed[name]:
            raise ValueError(f"{name} is not as it was signed")
    return json.loads(text), sorted(gone)


def main() -> int:
    folder, key_file = map(pathlib.Path, sys.argv[1:3])
    try:
        statement, gone = verify(folder, key_file)
    except Exception as error:  # whatever it is, the folder is not verified
        print(f"NOT VERIFIED: {type(error).__name__}: {error}")
        return 1
    predicate = statement["predicate"]
    print(f"verified: {predicate['name']}, {predicate['started_at']}: {predicate['verdict']}")
    for page in gone:
        print(f"{page} is not there; it is made from the other files, and proves nothing")
    return 0


if __name__ == "__main__":
    sys.exit(main())
