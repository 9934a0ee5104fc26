/** Soroush Plus speaks the bot API; a file comes empty on a connection that has had another request before. */
import type { Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { soroush, telegramBot } from '../../src/platforms/upstream-bot/flavour.ts'
import { listen, urlOf } from '../support/http-server.ts'
import { perform } from './contract/scene.ts'
import { me, ok, passing, session, startStub, update } from './upstream-bot/stub.ts'

t.test(
  'its own name of a method is used, and updates are asked for without a filter',
  async (t) => {
    const stub = await startStub(t)
    const open = await session(t, stub.url, soroush)
    stub.push(update('سلام'))
    await open.said('سلام')
    t.notOk('allowed_updates' in stub.last('getUpdates')!.body)
    stub.next('getChatMembersCount', ok(3))
    t.strictSame(await textOf(open, 'getChatMemberCount'), '{"ok":true,"result":3}')
  },
)

const textOf = async (open: Parameters<typeof perform>[0], method: string) => {
  const done = await perform(open, passing(method))
  return done?.kind === 'passed' ? done.text : done
}

t.test('each file comes by a connection of its own, also after calls', async (t) => {
  const asked = new WeakSet<Socket>()
  const server = await listen(t, (request, response) => {
    const isFresh = !asked.has(request.socket)
    asked.add(request.socket)
    if (request.url?.startsWith('/file/')) response.end(isFresh ? 'a photo' : '')
    else if (request.url?.endsWith('/getUpdates')) setTimeout(() => response.end(none), 300)
    else
      response.end(JSON.stringify({ ok: true, result: request.url?.endsWith('/getMe') ? me : {} }))
  })
  const thrice = async (flavour: typeof soroush) => {
    const { session: linked } = await session(t, urlOf(server), flavour)
    const download = async () => {
      await linked.probe(AbortSignal.timeout(5_000))
      const request = { method: 'GET', headers: {} } as const
      const { body } = await linked.passFile!('photos/1.jpg', request, AbortSignal.timeout(5_000))
      return (await buffer(body)).toString()
    }
    return [await download(), await download(), await download()]
  }
  t.strictSame(await thrice(soroush), ['a photo', 'a photo', 'a photo'])
  // The poll may take the connection of the probe before the file does.
  t.ok((await thrice(telegramBot)).includes(''), 'where connections are used again')
})

const none = '{"ok":true,"result":[]}'
