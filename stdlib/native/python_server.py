# Runs in python3 and answers requests for Python code; stdlib/native/python.cpp says what the bytes mean. Fresh state:
# each request runs in a child of its own, so that neither its variables nor its modules outlive it, and its crash is
# told from here.
def _raddle_serve():
    import os
    import signal
    import socket
    import struct
    import sys

    channel = socket.socket(fileno=os.dup(0))
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
            return b"e" + f"expression did not return a string! It is of type {type(value).__name__}".encode()
        return b"r" + value.encode("utf-8", "surrogateescape")

    def flush():
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BaseException:
                pass  # closed by the code, or nobody reads it

    def write_all(file, data):
        while data:
            data = data[os.write(file, data):]

    def run_in_child(code, expression):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            channel.close()
            os.close(reader)
            answer = run(code, expression, scope)
            flush()
            write_all(writer, framed(answer))
            os._exit(0)
        os.close(writer)
        answer = receive_message(lambda count: os.read(reader, count))
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
            answer = run(code, expression, scope)
            flush()
        channel.sendall(framed(answer))


globals().pop("_raddle_serve")()
