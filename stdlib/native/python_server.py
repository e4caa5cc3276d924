# Runs in python3 and answers requests for Python code; stdlib/native/code_servers.cpp says what the bytes mean. Fresh state:
# each request runs in a child of its own, so that neither its variables nor its modules outlive it, and its crash is
# told from here.
def _raddle_serve():
    import sys

    folders = sys.path[:]
    del sys.path[0]  # the script may have modules of these names beside it
    from os import _exit, close, devnull, dup, dup2, fork, getpid, open, pipe, read, set_blocking, waitpid
    from os import O_RDONLY, WEXITSTATUS, WIFSIGNALED, WTERMSIG, write
    from select import POLLIN, poll
    from signal import strsignal
    sys.path[:] = folders

    requests = dup(0)
    answers = dup(3)
    close(3)
    nothing = open(devnull, O_RDONLY)
    dup2(nothing, 0)
    close(nothing)
    names = {"<code>": "of the code", "<expr>": "of the expression"}

    def receive(read, count):
        parts = []
        while count > 0:
            part = read(min(count, 1 << 20))
            if not part:
                return None
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def receive_message(read):
        header = receive(read, 8)
        return None if header is None else receive(read, number_of(header))

    def number_of(data):
        return int.from_bytes(data, "little")

    def framed(answer):
        return len(answer).to_bytes(8, "little") + answer

    def place_of(exception):
        if isinstance(exception, SyntaxError) and exception.filename in names:
            return f" (line {exception.lineno} {names[exception.filename]})"
        place = ""
        trace = exception.__traceback__
        while trace is not None:
            file = trace.tb_frame.f_code.co_filename
            if file in names:
                place = f" (line {trace.tb_lineno} {names[file]})"
            trace = trace.tb_next
        return place

    # What belongs to the code, its classes and what it raises, may fail itself.
    def name_of(kind):
        try:
            return str(kind.__name__)
        except BaseException:
            return "a class without a name"

    def text_of(exception):
        kind, place = name_of(type(exception)), ""
        try:
            place = place_of(exception)
            text = f"{exception.msg if isinstance(exception, SyntaxError) else exception}"
        except BaseException:
            text = "its text can not be made"
        return (f"{kind}: {text}" if text else kind) + place

    def run(code, expression, scope):
        try:
            exec(compile(code, "<code>", "exec", dont_inherit=True), scope)
            expression = expression.strip()
            value = eval(compile(expression, "<expr>", "eval", dont_inherit=True), scope) if expression else ""
        except BaseException as exception:
            return b"x" + text_of(exception).encode("utf-8", "replace")
        if not issubclass(type(value), str):
            error = f"expression did not return a string! It is of type {name_of(type(value))}: str(...) makes one"
            return b"e" + error.encode("utf-8", "replace")
        try:
            return b"r" + str.encode(value, "utf-8", "surrogateescape")
        except UnicodeEncodeError as error:
            return b"e" + f"the result is no text of Unicode: {error.reason} at index {error.start}".encode()

    def flush():
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BaseException:
                pass  # closed by the code, or nobody reads it

    def run_and_flush(code, expression):
        process = getpid()
        answer = run(code, expression, scope)
        flush()
        if getpid() != process:
            _exit(0 if answer[:1] == b"r" else 1)  # a fork of the code's: the process it comes from answers
        return answer

    def call_and_flush(request):
        process = getpid()
        answer = answer_of_functions(request)
        flush()
        if getpid() != process:
            _exit(0 if answer[:1] == b"r" else 1)
        return answer

    def write_all(file, data):
        while data:
            data = data[write(file, data):]

    # Until the pipe ends or the child does: what the child has forked may hold the pipe open.
    def receive_from_child(reader, child):
        from os import pidfd_open  # since Python 3.9

        end = pidfd_open(child)
        watched = poll()
        watched.register(reader, POLLIN)
        watched.register(end, POLLIN)
        set_blocking(reader, False)
        has_ended = False

        def read_some(count):
            nonlocal has_ended
            while True:
                try:
                    return read(reader, count)
                except BlockingIOError:
                    if has_ended:
                        return b""
                    has_ended = any(file == end for file, _ in watched.poll())

        answer = receive_message(read_some)
        close(end)
        return answer

    def run_in_child(code, expression):
        reader, writer = pipe()
        child = fork()
        if child == 0:
            close(requests)
            close(answers)
            close(reader)
            write_all(writer, framed(run_and_flush(code, expression)))
            _exit(0)
        close(writer)
        answer = receive_from_child(reader, child)
        close(reader)
        status = waitpid(child, 0)[1]
        if answer is not None:
            return answer
        if WIFSIGNALED(status):
            number = WTERMSIG(status)
            return f"epython3: it was ended by signal {number} ({strsignal(number)})".encode()
        return f"epython3: it ended with exit code {WEXITSTATUS(status)}".encode()

    def text(data):
        return data.decode("utf-8", "surrogateescape")

    scope = sys.modules["__main__"].__dict__
    make_functions = globals().get("_raddle_functions")  # of python_functions.py, where that stands before
    answer_of_functions = make_functions(name_of) if make_functions else None
    while True:
        request = receive_message(lambda count: read(requests, count))
        if request is None:
            return
        if answer_of_functions is not None:
            write_all(answers, framed(call_and_flush(request)))
            continue
        length = number_of(request[1:9])
        code, expression = text(request[9:9 + length]), text(request[9 + length:])
        if request[:1] == b"f":
            answer = run_in_child(code, expression)
        else:
            answer = run_and_flush(code, expression)
        write_all(answers, framed(answer))


# In a namespace of its own, with built-ins of its own: what the code makes of `min` or `os.read`, the server does not see.
def _raddle_begin(names):
    own = {"__builtins__": dict(vars(names["__builtins__"]))}
    for name in ("_raddle_begin", "_raddle_functions", "_raddle_serve"):
        function = names.pop(name, None)
        if function is not None:
            own[name] = type(function)(function.__code__, own)
    own["_raddle_serve"]()


_raddle_begin(globals())
