/** What a node does not see yet, or has seen end: a call goes to the owner that comes into sight, and to itself only as a repetition. */
import t, { type Test } from 'tap'
import { ownerLost } from '../../src/nodes/owners.ts'
import { ageOf, forwardingOf, listenForPeers } from '../../src/nodes/peers.ts'
import { until } from '../support/client.ts'
import { CREDENTIAL, KEY, SELF, type Serve, startForwarder } from './forwarder-scene.ts'

const NEXT = 2

/** Node 1, whose routes are `serve`, and which is alone until it sees node 2, which answers with `answers`. */
async function nodeAlone(t: Test, serve: Serve, answers: Serve) {
  const own = await listenForPeers('https://127.0.0.1:0', KEY)
  const next = await listenForPeers('https://127.0.0.1:0', KEY)
  t.teardown(() => Promise.all([own.close(), next.close()]))
  const table = { owner: SELF }
  const rows = [{ incarnation: SELF, address: own.address }]
  const members: { changed: () => void } = { changed: () => undefined }
  const place = async () => ({ credentialId: CREDENTIAL, owner: table.owner })
  const { forwarder, port } = await startForwarder(t, {
    rows,
    find: place,
    look: place,
    serve,
    owns: () => table.owner === SELF,
    isPlacedHere: () => rows.length === 1,
    onMembersChanged: (changed) => {
      members.changed = changed
    },
  })
  own.serve(forwarder.receive)
  next.serve(answers)
  return {
    forwarder,
    table,
    /** From now on node 1 sees node 2. */
    appear() {
      rows.push({ incarnation: NEXT, address: next.address })
      members.changed()
    },
    async call(method: string, init: RequestInit = {}): Promise<string> {
      return (await fetch(`http://127.0.0.1:${port}/bot9:secret/${method}`, init)).text()
    },
  }
}

t.test('a call waits until the node is seen that has claimed its account', async (t) => {
  const { forwarder, table, appear, call } = await nodeAlone(
    t,
    async (request, response) => {
      await request.toArray()
      // Where the account begins, this node learns that another one has claimed it.
      table.owner = NEXT
      if (!ownerLost(request)) response.end('refused')
    },
    async (request, response) => {
      response.end(`the owner got ${Buffer.concat(await request.toArray())}`)
    },
  )
  const answer = call('sendMessage', { method: 'POST', body: 'hello' })
  await until(() => forwarder.parked === 1)
  appear()
  t.equal(await answer, 'the owner got hello')
  t.equal(forwarder.parked, 0)
})

t.test('the owner learns how long a call has waited, and believes no client', async (t) => {
  let isOnes = true
  const told: [number, unknown][] = []
  const note: Serve = (request, response) => {
    told.push([ageOf(request), request.headers['x-chapar-age']])
    response.end('noted')
  }
  const { table, appear, call } = await nodeAlone(
    t,
    (request, response) => {
      if (!isOnes) return note(request, response)
      // It was held here for a while, as a poll is.
      setTimeout(() => {
        table.owner = NEXT
        t.ok(ownerLost(request))
      }, 150)
    },
    note,
  )
  const headers = { 'x-chapar-age': '900000' }
  appear()
  await call('getUpdates', { headers })
  isOnes = false
  await call('getUpdates', { headers })
  table.owner = SELF
  await call('getUpdates', { headers })
  const [held = 0, passed = 0, own = 0] = told.map(([age]) => age)
  t.ok(held >= 149 && held < 60_000, `${held} ms`)
  t.ok(passed < held, 'one that was passed on at once')
  t.ok(own < held, 'one of its own')
  t.strictSame(
    told.map(([, header]) => header),
    [undefined, undefined, '900000'],
    'the routes of nodes do not see it',
  )
})

t.test('a node that becomes the owner does not take a lost call for a new one', async (t) => {
  const { table, appear, call } = await nodeAlone(
    t,
    (request, response) => {
      const again = forwardingOf(request)?.call.isRepeated
      response.end(again ? 'told of the first try' : 'taken for a new call')
    },
    (request) => {
      table.owner = SELF
      request.socket.destroy()
    },
  )
  appear()
  for (const init of [{}, { method: 'POST', body: 'text=hi' }, { method: 'POST' }]) {
    table.owner = NEXT
    t.equal(await call('sendMessage?chat_id=7&text=hi', init), 'told of the first try')
  }
  table.owner = NEXT
  t.equal(await call('getMe'), 'taken for a new call', 'one that only reads')
})

t.test('a second try that is refused for now does not call for a third one', async (t) => {
  const refusals = [429, 503]
  const { table, appear, call } = await nodeAlone(
    t,
    (_, response) => {
      response.writeHead(refusals.shift() ?? 200).end('again, please')
    },
    (request) => {
      table.owner = SELF
      request.socket.destroy()
    },
  )
  appear()
  for (const _ of refusals.slice()) {
    table.owner = NEXT
    t.match(await call('sendMessage?chat_id=7&text=hi'), '"error_code":504')
  }
  t.equal(await call('sendMessage?chat_id=7&text=hi'), 'again, please', 'a first try')
})
