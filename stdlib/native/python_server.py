# Runs in python3 and answers requests for Python code; stdlib/native/code_servers.cpp says what the bytes mean. Fresh state:
# each request runs in a child of its own, so that neither its variables nor its modules outlive it, and its crash is
# told from here.
def _raddle_serve():
    import os
    import select
    import signal
    import socket
    import struct
    import sys

    channel = socket.socket(fileno=os.dup(0))
    answers = os.dup(3)
    os.close(3)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
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
        return None if header is None else receive(read, struct.unpack("<Q", header)[0])

    def framed(answer):
        return struct.pack("<Q", len(answer)) + answer

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

    def text_of(exception):
        kind = type(exception).__name__
        try:
            text = exception.msg if isinstance(exception, SyntaxError) else str(exception)
        except BaseException:
            text = "its text can not be made"
        return (f"{kind}: {text}" if text else kind) + place_of(exception)

    def run(code, expression, scope):
        try:
            exec(compile(code, "<code>", "exec", dont_inherit=True), scope)
            expression = expression.strip()
            value = eval(compile(expression, "<expr>", "eval", dont_inherit=True), scope) if expression else ""
        except BaseException as exception:
            return b"x" + text_of(exception).encode("utf-8", "replace")
        if not isinstance(value, str):
            error = f"expression did not return a string! It is of type {type(value).__name__}: str(...) makes one"
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
        process = os.getpid()
        answer = run(code, expression, scope)
        flush()
        if os.getpid() != process:
            os._exit(0 if answer[:1] == b"r" else 1)  # a fork of the code's: the process it comes from answers
        return answer

    def write_all(file, data):
        while data:
            data = data[os.write(file, data):]

    # Until the pipe ends or the child does: what the child has forked may hold the pipe open.
    def receive_from_child(reader, child):
        end = os.pidfd_open(child)
        watched = select.poll()
        watched.register(reader, select.POLLIN)
        watched.register(end, select.POLLIN)
        os.set_blocking(reader, False)
        has_ended = False

        def read(count):
            nonlocal has_ended
            while True:
                try:
                    return os.read(reader, count)
                except BlockingIOError:
                    if has_ended:
                        return b""
                    has_ended = any(file == end for file, _ in watched.poll())

        answer = receive_message(read)
        os.close(end)
        return answer

    def run_in_child(code, expression):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            channel.close()
            os.close(answers)
            os.close(reader)
            write_all(writer, framed(run_and_flush(code, expression)))
            os._exit(0)
        os.close(writer)
        answer = receive_from_child(reader, child)
        os.close(reader)
        status = os.waitpid(child, 0)[1]
        if answer is not None:
            return answer
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            return f"epython3: it was ended by signal {number} ({signal.strsignal(number)})".encode()
        return f"epython3: it ended with exit code {os.WEXITSTATUS(status)}".encode()

    def text(data):
        return data.decode("utf-8", "surrogateescape")

    scope = sys.modules["__main__"].__dict__
    while True:
        request = receive_message(channel.recv)
        if request is None:
            return
        length = struct.unpack("<Q", request[1:9])[0]
        code, expression = text(request[9:9 + length]), text(request[9 + length:])
        if request[:1] == b"f":
            answer = run_in_child(code, expression)
        else:
            answer = run_and_flush(code, expression)
        write_all(answers, framed(answer))


globals().pop("_raddle_serve")()
