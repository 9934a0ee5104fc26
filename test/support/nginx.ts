/** A real nginx in front of a service, with few connections to it that are kept and shared. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { accepting, freePort } from './ports.ts'

export const hasNginx = spawnSync('nginx', ['-v']).status === 0

/** Resolves with its port. One connection to the service is kept, so that every request meets what the last one left. */
export async function startNginx(
  t: Pick<Test, 'teardown'>,
  servicePort: number,
  buffering: 'on' | 'off',
): Promise<number> {
  const dir = await mkdtemp(join(tmpdir(), 'chapar-nginx-'))
  const port = await freePort()
  await writeFile(join(dir, 'nginx.conf'), configuration(port, servicePort, buffering))
  const started = spawn('nginx', ['-p', dir, '-c', join(dir, 'nginx.conf'), '-e', 'stderr'], {
    stdio: 'ignore',
  })
  t.teardown(async () => {
    const ended = once(started, 'exit')
    if (started.exitCode === null && started.kill('SIGTERM')) await ended
    await rm(dir, { recursive: true, force: true })
  })
  await accepting(port)
  return port
}

const configuration = (port: number, servicePort: number, buffering: 'on' | 'off') => `
daemon off;
${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes 1;
pid nginx.pid;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  client_max_body_size 0;
  upstream chapar { server 127.0.0.1:${servicePort}; keepalive 1; }
  server {
    listen 127.0.0.1:${port};
    keepalive_requests 100000;
    location / {
      proxy_pass http://chapar;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_request_buffering ${buffering};
    }
  }
}
`
