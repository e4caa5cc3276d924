"""Tasks in a table of a database: who explores adds them, the workflow takes and ends them."""
import sqlite3


def connect(path):
    return sqlite3.connect(path, timeout=60, isolation_level=None)


def create(path, points):
    with connect(path) as table:
        table.execute("create table tasks (id integer primary key, point text, state text, result text)")
        table.executemany("insert into tasks (point, state) values (?, 'queued')", [(point,) for point in points.split()])


def take(path, count):
    """Numbers and points of tasks that are queued, which run from now on."""
    table = connect(path)
    table.execute("begin immediate")
    rows = table.execute("select id, point from tasks where state = 'queued' order by id limit ?", (count,)).fetchall()
    table.executemany("update tasks set state = 'running' where id = ?", [(task,) for task, _ in rows])
    table.execute("commit")
    table.close()
    return ";".join(f"{task}:{point}" for task, point in rows) or "none"


def report(path, task, result):
    table = connect(path)
    table.execute("update tasks set state = 'done', result = ? where id = ?", (result, task))
    table.close()


def summary(path):
    rows = connect(path).execute("select state, count(*), sum(cast(result as real)) from tasks group by state").fetchall()
    return " ".join(f"{state} {count} {total}" for state, count, total in rows)
