/** A balancer without any knowledge: of the requests to its address, each goes to the next node. */
import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Testing {
  teardown(work: () => Promise<void> | void): void
}

/** Resolves with its address. `urls` may change while it runs. */
export async function balance(t: Testing, urls: () => readonly string[]): Promise<string> {
  const agent = new Agent({ keepAlive: true })
  let turn = 0
  const server = createServer((from, to) => {
    const nodes = urls()
    const { hostname, port } = new URL(nodes[turn++ % nodes.length] ?? '')
    const passed = request(
      { hostname, port, agent, method: from.method, path: from.url, headers: from.headers },
      (answer) => {
        to.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
        answer.on('error', () => to.destroy()).pipe(to)
      },
    )
    passed.on('error', () => to.destroy())
    to.once('close', () => passed.destroy())
    from.pipe(passed)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
    agent.destroy()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
