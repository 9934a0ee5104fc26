/** Proxies of other makes in front of a port, with one thread and without a log: what any hop costs on this machine. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { accepting, freePort } from '../../test/support/ports.ts'
import { startChild } from './child.ts'

export interface Front {
  readonly name: string
  readonly port: number
  /** Milliseconds of processor time so far. */
  processor(): Promise<number>
  stop(): Promise<unknown>
}

interface Server {
  readonly name: string
  readonly program: string
  readonly args: (file: string, folder: string) => readonly string[]
  readonly configuration: (port: number, behind: number) => string
}

const haproxy: Server = {
  name: 'HAProxy',
  program: '/usr/sbin/haproxy',
  args: (file) => ['-db', '-f', file],
  configuration: (port, behind) => `
global
  nbthread 1
  maxconn 2000
defaults
  mode http
  timeout connect 2s
  timeout client 75s
  timeout server 75s
frontend public
  bind 127.0.0.1:${port}
  default_backend nodes
backend nodes
  http-reuse always
  server node 127.0.0.1:${behind}
`,
}

const nginx: Server = {
  name: 'nginx',
  program: '/usr/sbin/nginx',
  args: (file, folder) => ['-c', file, '-p', folder],
  configuration: (port, behind) => `
daemon off;
master_process off;
pid nginx.pid;
error_log stderr error;
events { worker_connections 2000; }
http {
  access_log off;
  client_body_temp_path bodies;
  proxy_temp_path answers;
  fastcgi_temp_path others;
  uwsgi_temp_path others;
  scgi_temp_path others;
  keepalive_requests 1000000;
  upstream nodes { server 127.0.0.1:${behind}; keepalive 64; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://nodes;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
    }
  }
}
`,
}

async function startServer(
  { name, program, args, configuration }: Server,
  behind: number,
  folder: string,
): Promise<Front> {
  const [port, file] = [await freePort(), join(folder, `${name}.conf`)]
  await mkdir(folder, { recursive: true })
  await writeFile(file, configuration(port, behind))
  const child = spawn(program, args(file, folder), { stdio: ['ignore', 'ignore', 'inherit'] })
  const ended = once(child, 'exit')
  const failed = ended.then(() => Promise.reject(new Error(`${name} ended with ${child.exitCode}`)))
  await Promise.race([accepting(port), failed])
  return {
    name: `${name}, in the clear`,
    port,
    // Nanoseconds of its one thread; the other figures of the system count in steps of 10 ms.
    processor: async () =>
      Number((await readFile(`/proc/${child.pid}/schedstat`, 'utf8')).split(' ')[0]) / 1e6,
    stop() {
      child.kill()
      return ended
    },
  }
}

async function startBare(behind: number): Promise<Front> {
  const child = startChild(join(import.meta.dirname, 'proxy-process.ts'))
  return {
    name: 'a bare proxy (Fastify and undici), in the clear',
    port: await child.ask<number>('start', { port: behind }),
    processor: () => child.ask('processor'),
    stop: () => child.stop(),
  }
}

/** Those that are installed here. */
export async function startFronts(behind: number, folder: string): Promise<Front[]> {
  const installed = [haproxy, nginx].filter(({ program }) => existsSync(program))
  const servers = installed.map((server) => startServer(server, behind, folder))
  return Promise.all([startBare(behind), ...servers])
}
