/** An account on each of the servers: linked, it receives and sends. */
import t from 'tap'
import { sparseXmppServers, xmppServers } from '../support/xmpp-servers.ts'
import { sent } from './contract/scene.ts'
import { Network } from './xmpp/network.ts'
import { scene } from './xmpp/scene.ts'

const kinds = [
  ...xmppServers.flatMap((kind) =>
    [false, true].map((withoutArchive) => ({ kind, withoutArchive })),
  ),
  ...sparseXmppServers.map((kind) => ({ kind, withoutArchive: true })),
]

for (const { kind, withoutArchive } of kinds) {
  const { name, skip, start } = kind
  const which = withoutArchive ? `${name} without an archive` : name
  t.test(`an account on ${which} receives and sends`, { skip }, async (t) => {
    const network = Network.over(t, await start({ withoutArchive }))
    const { account, friend, chat, store, first, open } = await scene(t, network)
    friend.send(account.jid, 'to the account')
    t.match(await store.message('to the account'), { direction: 'incoming' })
    await sent(first, chat, 'from the account')
    await friend.sees(({ body }) => body === 'from the account')
    await network.server.kill()
    await network.server.up()
    // The stream ends for good where the server cannot resume it, and whoever runs the session opens the next one.
    if (sparseXmppServers.includes(kind)) await first.reported('lost')
    const last = sparseXmppServers.includes(kind) ? await open() : first
    friend.send(account.jid, 'after a restart')
    await store.message('after a restart')
    // Of a gap that nobody can look into the account's owner is told, once.
    const told = last.reports.filter(([report]) => report === 'skipped')
    t.strictSame(told, withoutArchive ? [['skipped', 'unknown']] : [])
  })
}
