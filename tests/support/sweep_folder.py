"""Folders in which sweeps are run and their tables read."""

import json

from folder_tests import Folder


class SweepFolder(Folder):
    def column(self, line, *names, code=0):
        """Cells of the table on standard output, a line for each row; no cell may hold a comma."""
        lines = self.run(line, code).stdout.splitlines()
        head = lines[0].split(",")
        return [" ".join(row.split(",")[head.index(name)] for name in names) for row in lines[1:]]


def run_id(folder, index):
    """0: the first run of the record, -1: the latest."""
    return json.loads(folder.run("runs list --json").stdout)["runs"][index]["id"]
