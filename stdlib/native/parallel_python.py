# Runs code in each process of a call of python_parallel_persist; stdlib/native/mpi.cpp starts them. Arguments: files with
# the code and the expression, and the file for the answer: `r` and the result of process 0, or `e` and an error.
import os
import sys
import traceback
import types

code_path, expression_path, answer_path = sys.argv[1:4]


def answer(kind, text):
    own = f"{answer_path}.{os.getpid()}"
    with open(own, "w", encoding="utf-8") as file:
        file.write(kind + text)
    os.replace(own, answer_path)


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def run():
    try:
        from mpi4py import MPI
    except ImportError as error:
        answer("e", f"{error}; it is in the package python3-mpi4py, of the python3 that comes first in PATH")
        sys.exit(1)
    world = MPI.COMM_WORLD
    helpers = types.ModuleType("turbine_helpers")
    helpers.get_task_comm = lambda: world
    sys.modules["turbine_helpers"] = helpers
    try:
        names = {"__name__": "__main__"}
        exec(compile(text_of(code_path), "<python_parallel_persist>", "exec"), names)
        expression = text_of(expression_path)
        value = eval(expression, names) if expression.strip() else ""
        if world.Get_rank() == 0 and not isinstance(value, str):
            raise TypeError(f"expression did not return a string! It is of type {type(value).__name__}: str(...) makes one")
    except BaseException as error:
        lines = [entry.lineno for entry in traceback.extract_tb(error.__traceback__) if entry.filename.startswith("<python")]
        where = f", line {lines[-1]}" if lines else ""
        answer("e", f"{type(error).__name__} in process {world.Get_rank()}{where}: {error}")
        sys.stdout.flush()
        world.Abort(1)
    sys.stdout.flush()
    world.Barrier()  # none of the others has failed
    if world.Get_rank() == 0:
        answer("r", value)


run()
