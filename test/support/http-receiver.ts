/** A receiver of HTTP requests in the hands of its test: it notes what it is sent, and answers as it is told. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { until } from './client.ts'

interface Testing {
  teardown(work: () => Promise<void> | void): void
}

interface Received {
  readonly headers: Record<string, string>
  readonly text: string
}

export async function httpReceiver(t: Testing) {
  const received: Received[] = []
  const told = {
    received,
    url: '',
    status: 200,
    headers: {} as Record<string, string>,
    hangs: false,
    count: (wanted: number) => until(() => received.length >= wanted),
  }
  const server = createServer(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString()
    received.push({ headers: request.headers as Record<string, string>, text })
    if (!told.hangs) response.writeHead(told.status, told.headers).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  told.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/alerts`
  t.teardown(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return told
}
