/** One request to a peer, over a connection that nobody else has until the answer is there. */
import type { Dispatcher } from 'undici'
import type { Connection, Connections } from '../../src/net/guard.ts'

type Asked = Pick<Dispatcher.RequestOptions, 'method' | 'path' | 'headers'>

export async function askPeer(connections: Connections, asked: Asked) {
  const connection = await new Promise<Connection>((use) => connections.take({ use }))
  let isWhole = false
  try {
    const { statusCode, headers, body } = await connection.request(asked)
    const text = await body.text()
    isWhole = true
    return { statusCode, headers, text }
  } finally {
    connections.giveBack(connection, isWhole)
  }
}
