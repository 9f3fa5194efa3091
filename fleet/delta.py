"""Makes a Delta table of each table of a data set, over the same files: nothing is copied, moved or rewritten.

USAGE     pip install deltalake pyarrow
          python3 delta.py fleet
          python3 delta.py s3://traces/fleet

Run it again after a conversion or an upload. Each run adds the files of the ranges that are done, in one commit for each table: readers of the
table see whole ranges. Unsigned integers become decimal(20,0), as Delta has no unsigned types. The table clocks is left out: its file is
replaced.

A run can be killed at any time, and several can run at once. A commit fails if another run has changed the table since it was read. The run
then reads it again, so each file is added once.

The folder of each table gets a folder _delta_log. Only read the Delta tables: what other programs write there is not part of the data set.
"""

import json
import os
import random
import sys
import time
from urllib.parse import quote, unquote

import pyarrow
import pyarrow.parquet
from deltalake import CommitProperties, DeltaTable, Schema
from deltalake.exceptions import CommitFailedError
from deltalake.transaction import AddAction
from pyarrow import fs

# Columns that come from the names of folders.
PLACE = {"host": pyarrow.string(), "date": pyarrow.date32(), "hour": pyarrow.int64()}
NO_HOST = "__HIVE_DEFAULT_PARTITION__"
# How often a commit is tried. Each conflict is the success of another run.
TRIES = 20


def open_place(place):
    """Returns the file system, the path of the data set there, and its URL or path for Delta."""
    if not place.startswith("s3://"):
        root = os.path.abspath(place)
        return fs.LocalFileSystem(), root, root
    endpoint = os.environ.get("AWS_ENDPOINT_URL")
    root = place.removeprefix("s3://").rstrip("/")
    return fs.S3FileSystem(**({"endpoint_override": endpoint} if endpoint else {})), root, "s3://" + quote(root)


def files_of_ranges(files, root):
    """Returns the files of all ranges that are done, by table, with their paths in the table's folder."""
    tables = {}
    for found in files.get_file_info(fs.FileSelector(f"{root}/_sources", recursive=True)):
        if found.extension == "done" and not found.base_name.startswith("."):
            with files.open_input_file(found.path) as list_of_files:
                for name in json.loads(list_of_files.read())["files"]:
                    table, path = name.split("/", 1)
                    tables.setdefault(table, set()).add(path)
    return tables


def schema_of(metadata):
    """Returns the columns of files, with those that later versions have added."""
    columns = pyarrow.unify_schemas([each.schema.to_arrow_schema().remove_metadata() for each in metadata])
    unsigned = pyarrow.decimal128(20, 0)
    kinds = {column.name: unsigned if column.type == pyarrow.uint64() else column.type for column in columns}
    return Schema.from_arrow(pyarrow.schema(kinds | PLACE))


def add(path, status, metadata):
    """Returns the action that adds a file."""
    values = dict(folder.split("=", 1) for folder in path.split("/")[:-1])
    values["host"] = None if values["host"] == NO_HOST else unquote(values["host"])
    values["hour"] = str(int(values["hour"]))
    # Without the least and greatest values: readers take those of unsigned columns as signed.
    statistics = json.dumps({"numRecords": metadata.num_rows})
    return AddAction(path, status.size, values, status.mtime_ns // 1_000_000, True, statistics)


def turn(files, folder, url, paths):
    """Adds the files that the Delta table lacks. Returns the number of those added, and of those that are gone."""
    is_table = DeltaTable.is_deltatable(url)
    present = DeltaTable(url).get_add_actions().column("path").to_pylist() if is_table else []
    new = sorted(paths - {unquote(path) for path in present})
    statuses = dict(zip(new, files.get_file_info([f"{folder}/{path}" for path in new])))
    # Old days may have been removed.
    new = [path for path in new if statuses[path].is_file]
    gone = len(statuses) - len(new)
    if not new:
        return 0, gone
    metadata = {path: pyarrow.parquet.read_metadata(f"{folder}/{path}", filesystem=files) for path in new}
    schema = schema_of(metadata.values())
    delta = DeltaTable(url) if is_table else DeltaTable.create(url, schema, mode="ignore", partition_by=list(PLACE))
    known = {column.name for column in delta.schema().fields}
    if later := [column for column in schema.fields if column.name not in known]:
        delta.alter.add_columns(later)
    # The table may have got these files since it was read above.
    there = {unquote(path) for path in delta.get_add_actions().column("path").to_pylist()}
    actions = [add(path, statuses[path], metadata[path]) for path in new if path not in there]
    if actions:
        # The check of conflicts lets two commits add the same file. Without retries, each change of the table is a conflict.
        once = CommitProperties(max_commit_retries=0)
        delta.create_write_transaction(actions, "append", delta.schema(), list(PLACE), commit_properties=once)
    return len(actions), gone


def main(place):
    files, root, url = open_place(place)
    for table, paths in sorted(files_of_ranges(files, root).items()):
        for left in reversed(range(TRIES)):
            try:
                added, gone = turn(files, f"{root}/{table}", f"{url}/{table}", paths)
                break
            except CommitFailedError:
                # Another run has changed the table. If this goes on, something else is wrong.
                if not left:
                    raise
                time.sleep(random.random())
        print(f"{table}: {added} files added, {len(paths) - added - gone} there before, {gone} gone")


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    main(sys.argv[1])
