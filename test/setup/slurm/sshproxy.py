"""sshproxy.py PORT NSPID|- ADDR:PORT

Listens on 127.0.0.1:PORT and passes each connection on to ADDR:PORT, in the network
namespace of process NSPID: this machine's way to the login host's sshd.
"""

import asyncio
import ctypes
import os
import socket
import sys

CLONE_NEWNET = 0x40000000

port, pid, target = sys.argv[1:]
listener = socket.create_server(("127.0.0.1", int(port)), backlog=128)
if pid != "-":  # listen here, connect there
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(os.open(f"/proc/{pid}/ns/net", os.O_RDONLY), CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


async def pump(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.write_eof()


async def serve(client_reader, client_writer):
    writers = [client_writer]
    try:
        server_reader, server_writer = await asyncio.open_connection(*target.split(":"))
        writers.append(server_writer)
        await asyncio.gather(pump(client_reader, server_writer), pump(server_reader, client_writer))
    except OSError:
        pass  # either side went away
    finally:
        for writer in writers:
            writer.close()


async def main():
    await (await asyncio.start_server(serve, sock=listener)).serve_forever()


asyncio.run(main())
