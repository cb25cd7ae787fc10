/**
 * A daemon for the page's tests: the files of `dist/`, sessions, and the services by gRPC-Web, on
 * loopback as the real one. It can be stopped and started again at the same address.
 */

import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { type Asker, routes } from "./services";
import { World } from "./world";

/** The policy that the real daemon sends. */
export const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const FILES: Record<string, [string, string]> = {
  "/": ["index.html", "text/html; charset=utf-8"],
  "/index.html": ["index.html", "text/html; charset=utf-8"],
  "/app.js": ["app.js", "text/javascript; charset=utf-8"],
  "/app.css": ["app.css", "text/css; charset=utf-8"],
};

export class FakeDaemon {
  readonly world = new World();
  #port = 0;
  #server: Server | null = null;
  readonly #sockets = new Set<Socket>();
  readonly #links = new Map<string, NonNullable<Asker>>();
  readonly #sessions = new Map<string, NonNullable<Asker>>();

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Listens; at the address of before if it was started before. */
  async start(): Promise<void> {
    const askerOf = (shown: string | null) => this.#asker(shown);
    const calls = connectNodeAdapter({ routes: routes(this.world, askerOf) });
    const server = createServer((request, response) => {
      const isCall = request.url?.startsWith("/quietcore.v1.") ?? false;
      void (isCall ? calls(request, response) : this.#serve(request, response));
    });
    server.on("connection", socket => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
    await new Promise<void>(resolve => server.listen(this.#port, "127.0.0.1", resolve));
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Goes down at once, streams included, as after a kill. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server !== null) {
      const closed = new Promise(resolve => server.close(resolve));
      for (const socket of this.#sockets) {
        socket.destroy();
      }
      await closed;
    }
  }

  /** Ends all sessions, as a daemon does that keeps them in memory. */
  forgetSessions(): void {
    this.#sessions.clear();
  }

  /** Makes a one-time link. */
  link(role: string, name = "anna"): string {
    const token = randomBytes(16).toString("hex");
    this.#links.set(token, { name, role });
    return `${this.origin}/#link=${token}`;
  }

  #asker(shown: string | null): Asker {
    return this.#sessions.get(sessionOf(shown));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader("content-security-policy", POLICY);
    response.setHeader("x-content-type-options", "nosniff");
    if (request.url === "/session") {
      return this.#session(request, response);
    }
    const file = FILES[request.url ?? ""];
    if (file === undefined) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-type": file[1] }).end(await readFile(`dist/${file[0]}`));
  }

  async #session(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asker = this.#asker(request.headers.authorization ?? null);
    if (request.method === "POST") {
      let token = "";
      for await (const chunk of request) {
        token += chunk;
      }
      const linked = this.#links.get(token);
      this.#links.delete(token);
      if (linked === undefined) {
        response.writeHead(401).end();
        return;
      }
      const id = randomBytes(16).toString("hex");
      this.#sessions.set(id, linked);
      describe(response, { ...linked, session: id });
    } else if (asker === undefined) {
      response.writeHead(401).end();
    } else if (request.method === "DELETE") {
      this.#sessions.delete(sessionOf(request.headers.authorization ?? null));
      response.writeHead(204).end();
    } else {
      describe(response, { ...asker, session: null });
    }
  }
}

function describe(response: ServerResponse, session: object): void {
  const body = JSON.stringify({ ...session, version: "0.1.0" });
  response.writeHead(200, { "content-type": "application/json" }).end(body);
}

function sessionOf(shown: string | null): string {
  return /^Bearer ([0-9a-f]+)$/.exec(shown ?? "")?.[1] ?? "";
}
