#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""An ssh server for clients that speak ssh themselves.

    ssh-server.py <port file> <host key> <public key>

Listens on a free port of 127.0.0.1, writes its number to the port file, and
serves until it is killed. Whoever has the one key may run any command, by the
shell, in the environment of the server and with the client's GIT_PROTOCOL.
"""
import os
import socket
import subprocess
import sys
import threading

import paramiko

PIECE = 1 << 15


class Login(paramiko.ServerInterface):
    """One connection: one key, sessions, one command in each."""

    def __init__(self, key):
        self.key = key
        self.env = dict(os.environ)

    def get_allowed_auths(self, username):
        return "publickey"

    def check_auth_publickey(self, username, key):
        if key.get_name() + " " + key.get_base64() == self.key:
            return paramiko.AUTH_SUCCESSFUL
        return paramiko.AUTH_FAILED

    def check_channel_request(self, kind, chanid):
        if kind == "session":
            return paramiko.OPEN_SUCCEEDED
        return paramiko.OPEN_FAILED_ADMINISTRATIVELY_PROHIBITED

    def check_channel_env_request(self, channel, name, value):
        if name != b"GIT_PROTOCOL":
            return False
        self.env["GIT_PROTOCOL"] = value.decode()
        return True

    def check_channel_exec_request(self, channel, command):
        threading.Thread(target=run, args=(channel, command, self.env),
                         daemon=True).start()
        return True


def pump(receive, send, close):
    """Carry bytes until either end is closed."""
    try:
        while piece := receive():
            send(piece)
    except OSError:
        pass
    finally:
        close()


def run(channel, command, env):
    program = subprocess.Popen(["/bin/sh", "-c", command], env=env, bufsize=0,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    pumps = [threading.Thread(target=pump, args=args, daemon=True) for args in (
        (lambda: channel.recv(PIECE), program.stdin.write, program.stdin.close),
        (lambda: program.stdout.read(PIECE), channel.sendall,
         program.stdout.close),
        (lambda: program.stderr.read(PIECE), channel.sendall_stderr,
         program.stderr.close))]
    for thread in pumps:
        thread.start()
    for thread in pumps[1:]:
        thread.join()
    channel.send_exit_status(program.wait())
    channel.close()


def main(port_file, host_key, public_key):
    with open(public_key) as f:
        key = " ".join(f.read().split()[:2])
    host_key = paramiko.ECDSAKey.from_private_key_file(host_key)
    listener = socket.create_server(("127.0.0.1", 0))
    with open(port_file + ".new", "w") as f:
        print(listener.getsockname()[1], file=f)
    os.rename(port_file + ".new", port_file)
    while True:
        transport = paramiko.Transport(listener.accept()[0])
        transport.add_server_key(host_key)
        transport.start_server(event=threading.Event(), server=Login(key))


main(*sys.argv[1:])
