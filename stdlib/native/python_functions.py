# Runs in python3 beside python_server.py, in the processes that make calls of functions which a script declares by
# `@python`. What the bytes of requests and answers mean says vm/foreign/python_function.cpp.
#
# Arrays lie in memory that both processes map. What an argument is made of is mapped privately: whoever makes the array
# writable writes to pages of their own. The run uses that memory again once a call is over; where the function keeps an
# array longer, all of its pages become its own before the answer.
def _raddle_functions(name_of):
    import sys

    folders = sys.path[:]
    del sys.path[0]  # the script may have modules of these names beside it
    from importlib import import_module
    from mmap import MAP_PRIVATE, MAP_SHARED, PAGESIZE, PROT_READ, PROT_WRITE, mmap
    from os import environ, getcwd
    from os.path import isfile, join, samefile
    from struct import pack, unpack
    from traceback import FrameSummary, StackSummary, TracebackException
    sys.path[:] = folders

    memory, header = 4, 64  # the descriptor; what stands before the numbers of a block
    types = {"i": "<i8", "f": "<f8", "b": "?", "n": "<i4", "g": "<f4"}
    names = {"i": "int", "f": "float", "b": "boolean", "s": "string", "n": "int32", "g": "float32"}
    bits = {"i": 63, "n": 31}  # beside the sign
    greatest_float32 = float.fromhex("0x1.fffffep127")
    most_lines = 60  # of a traceback
    populate_write = 23  # MADV_POPULATE_WRITE, which the module mmap does not name: 2.2 in place of 3.6 ms for 8 MB
    known = {}  # functions by what the script calls them
    maps, waiting = [], []  # of the call that is under way; results that wait for their places

    # Calls run beside each other, one for each worker, and what is computed is not to depend on how many threads there are.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"):
        environ.setdefault(name, "1")

    class Refused(Exception):
        pass

    class Reader:
        def __init__(self, data):
            self.data, self.at = data, 1

        def take(self, count):
            self.at += count
            return self.data[self.at - count:self.at]

        def letter(self):
            return self.take(1).decode()

        def number(self):
            return int.from_bytes(self.take(8), "little", signed=True)

        def part(self):
            return self.take(self.number())

        def text(self):
            return self.part().decode("utf-8", "surrogateescape")

        def numbers(self):
            return tuple(self.number() for _ in range(self.number()))

    def as_bytes(number):
        return number.to_bytes(8, "little", signed=True)

    def framed(text):
        data = text.encode("utf-8", "replace")
        return as_bytes(len(data)) + data

    def numpy():
        import numpy
        return numpy

    def without_numpy():
        version = "%d.%d" % sys.version_info[:2]
        return (f"NumPy is needed, which `{sys.executable}` (Python {version}) does not have: "
                "`apt-get install python3-numpy`, or `python3 -m pip install numpy`")

    # ---- what is called with what

    def found(module, function, folder):
        key = module, function, folder
        if key in known:
            return known[key]
        if folder not in sys.path:
            sys.path.insert(0, folder)
        try:
            value = import_module(module)
        except ModuleNotFoundError as error:
            if error.name is None or not (module + ".").startswith(error.name + "."):
                raise
            package, _, last = module.rpartition(".")
            if error.name == module and package and hasattr(sys.modules.get(package), last):
                raise Refused(f'`{last}` is no module but a value in `{package}`: '
                              f'a function of a module is written "{package}:{last}"') from None
            raise Refused(f"there is no module `{module}` beside the script, nor where Python looks for modules") from None
        own, file = join(folder, *module.split(".")), getattr(value, "__file__", None)
        for path in (own + ".py", join(own, "__init__.py")):
            if isfile(path) and not (file and samefile(path, file)):
                raise Refused(f"`{path}` is not imported, as there is another module `{module}`: "
                              f"{file or 'a part of Python'}")
        for part in function.split("."):
            if not hasattr(value, part):
                raise Refused(f"the module `{module}` has no function `{function}`")
            value = getattr(value, part)
        if not callable(value):
            raise Refused(f"`{function}` of the module `{module}` is no function")
        known[key] = value
        return value

    def argument(reader):
        kind = reader.letter()
        if kind in bits:
            return reader.number()
        if kind in "fg":
            return unpack("<d", reader.take(8))[0]
        if kind == "b":
            return reader.number() != 0
        if kind == "s":
            return reader.text()
        dtype, shape = numpy().dtype(types[reader.letter()]), reader.numbers()
        if reader.letter() == "d":
            return numpy().ndarray(shape, dtype, reader.part())  # bytes: nobody can write there
        offset, size = reader.numbers()
        block = mmap(memory, header + size, flags=MAP_PRIVATE, prot=PROT_READ | PROT_WRITE, offset=offset)
        maps.append(block)
        array = numpy().ndarray(shape, dtype, block, header)
        array.flags.writeable = False
        return array

    class Output:
        def __init__(self, reader):
            self.name, self.kind = reader.text(), reader.letter()
            self.element = reader.letter() if self.kind == "a" else self.kind
            self.extents = reader.numbers() if self.kind == "a" else ()

        def text(self):
            return f"`{names[self.element]}{'[' + ', '.join(':' * len(self.extents)) + ']' if self.extents else ''}`"

        def misfit(self, what):
            return Refused(f"`{self.name}` is declared as {self.text()}, but the function gave {what}")

    # ---- what comes back

    def shape_text(shape):
        return "[" + ", ".join(map(str, shape)) + "]"

    def checked_array(value, output):
        np = numpy()
        if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
            raise output.misfit("an array with masked elements")
        try:
            array = np.asarray(value)
        except ValueError:  # of rows that differ, for example
            raise output.misfit(f"a {name_of(type(value))} of which NumPy makes no array") from None
        fits = {"f": "fiu", "i": "iu", "b": "b", "g": "f", "n": "iu"}[output.element]
        widest = np.dtype(types[output.element]).itemsize
        if array.size != 0 and (array.dtype.kind not in fits or array.dtype.itemsize > widest):
            raise output.misfit(f"an array of {array.dtype}" if array.ndim else f"a {name_of(type(value))}")
        if (output.element in bits and array.dtype.kind == "u" and array.size != 0
                and int(array.max()) >= 1 << bits[output.element]):
            raise output.misfit(f"{int(array.max())}, which is no `{names[output.element]}`")
        if array.ndim != len(output.extents):
            raise output.misfit(f"an array of the shape {shape_text(array.shape)}" if array.ndim else
                                f"a {name_of(type(value))}")
        if any(wanted not in (-1, extent) for wanted, extent in zip(output.extents, array.shape)):
            declared = ["any" if wanted < 0 else wanted for wanted in output.extents]
            raise Refused(f"`{output.name}` is declared with the shape {shape_text(declared)}, but the function gave "
                          f"{shape_text(array.shape)}")
        return array

    def array_result(value, output, least_shared):
        array, dtype = checked_array(value, output), numpy().dtype(types[output.element])
        size = array.size * dtype.itemsize
        shape = b"".join(map(as_bytes, array.shape))
        if size >= least_shared:
            waiting.append((array, dtype, size))
            return shape + b"m"
        return shape + b"d" + as_bytes(size) + array.astype(dtype).tobytes()

    def result(value, output, least_shared):
        if output.kind == "a":
            return array_result(value, output, least_shared)
        if getattr(value, "shape", None) == () and hasattr(value, "item"):
            value = value.item()  # a number of NumPy
        kind = output.kind
        if kind == "f" and type(value) is int:
            value = float(value)
        fits = {"i": (int,), "f": (float,), "b": (bool,), "s": (str,), "n": (int,), "g": (float,)}[kind]
        if not isinstance(value, fits) or (kind in bits and isinstance(value, bool)):
            raise output.misfit(f"a {name_of(type(value))}")
        if kind in bits:
            if not -1 << bits[kind] <= value < 1 << bits[kind]:
                raise output.misfit(f"{value}, which is no `{names[kind]}`")
            return as_bytes(int(value))
        if kind == "g" and greatest_float32 < abs(value) < float("inf"):
            raise output.misfit(f"{value}, which is no `float32`")
        if kind in "fg":
            return pack("<d", value)
        if kind == "b":
            return as_bytes(1 if value else 0)
        try:
            data = str.encode(value, "utf-8", "surrogateescape")
        except UnicodeEncodeError as error:
            raise output.misfit(f"no text of Unicode: {error.reason} at index {error.start}") from None
        return as_bytes(len(data)) + data

    def results(value, outputs, least_shared):
        if not outputs:
            return b"r"
        if len(outputs) == 1:
            return b"r" + result(value, outputs[0], least_shared)
        if not isinstance(value, (tuple, list)):
            raise Refused(f"{len(outputs)} results are declared, but the function gave one: a {name_of(type(value))}")
        if len(value) != len(outputs):
            raise Refused(f"{len(outputs)} results are declared, but the function gave {len(value)}")
        return b"r" + b"".join(result(each, output, least_shared) for each, output in zip(value, outputs))

    # ---- exceptions

    # Frames of ours and of what imports modules.
    def strip(told):
        frames = list(told.stack)
        while frames and frames[0].filename == "<string>":
            del frames[0]
        told.stack = StackSummary.from_list(
            FrameSummary(frame.filename, frame.lineno, frame.name, line=frame.line) for frame in frames
            if not frame.filename.startswith("<frozen importlib") and not frame.filename.endswith("importlib/__init__.py"))
        for other in (told.__cause__, told.__context__):
            if other is not None:
                strip(other)

    def exception_answer(exception):
        if isinstance(exception, Refused):
            return b"e" + framed(str(exception))
        if isinstance(exception, ModuleNotFoundError) and exception.name == "numpy":
            return b"e" + framed(without_numpy())
        try:
            told = TracebackException(type(exception), exception, exception.__traceback__)
            strip(told)
            own = list(told.format_exception_only())
            lines = "".join(told.format()).splitlines() if told.stack or told.__cause__ or told.__context__ else []
            lines = lines[:len(lines) - len("".join(own).splitlines())] + "".join(own[:-1]).splitlines()
            if len(lines) > most_lines:
                lines[most_lines // 2:-most_lines // 2] = ["  ..."]
            text = own[-1].rstrip("\n")
        except BaseException:
            text, lines = f"{name_of(type(exception))}: its text can not be made", []
        here = getcwd() + "/"
        return b"x" + framed(text) + framed("\n".join(lines).replace(f'File "{here}', 'File "'))

    # ---- requests

    def answer_to_call(reader):
        try:
            callee = found(reader.text(), reader.text(), reader.text())
            least_shared = reader.number()
            arguments = [argument(reader) for _ in range(reader.number())]
            outputs = [Output(reader) for _ in range(reader.number())]
            return results(callee(*arguments), outputs, least_shared)
        except BaseException as exception:
            waiting.clear()
            return exception_answer(exception)

    def answer_to_places(reader):
        try:
            for (array, dtype, size), offset in zip(waiting, reader.numbers()):
                with mmap(memory, header + size, flags=MAP_SHARED, prot=PROT_READ | PROT_WRITE, offset=offset) as block:
                    try:
                        block.madvise(populate_write)
                    except OSError:
                        pass  # Linux before 5.14: the pages come one by one
                    place = numpy().ndarray(array.shape, dtype, block, header)
                    numpy().copyto(place, array, casting="unsafe")
                    del place
            return b"r"
        except BaseException as exception:
            return exception_answer(exception)
        finally:
            waiting.clear()

    def end_call():
        for block in maps:
            try:
                block.close()
            except BufferError:  # the function has kept the array
                for at in range(0, len(block), PAGESIZE):
                    block[at] = block[at]
        maps.clear()

    def answer(request):
        kind = request[:1]
        if kind == b"c":
            made = answer_to_call(Reader(request))
        elif kind == b"p":
            made = answer_to_places(Reader(request))
        else:  # there is no memory for the results
            waiting.clear()
            made = b"r"
        if not waiting:
            end_call()
        return made

    return answer
