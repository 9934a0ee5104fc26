/** An account on each of the servers: linked, it receives and sends. */
import t from 'tap'
import { xmppServers } from '../support/xmpp-servers.ts'
import { sent } from './contract/scene.ts'
import { Network } from './xmpp/network.ts'
import { scene } from './xmpp/scene.ts'

for (const { name, skip, start } of xmppServers) {
  for (const withoutArchive of [false, true]) {
    const kind = withoutArchive ? `${name} without an archive` : name
    t.test(`an account on ${kind} receives and sends`, { skip }, async (t) => {
      const network = Network.over(t, await start({ withoutArchive }))
      const { account, friend, chat, store, first } = await scene(t, network)
      friend.send(account.jid, 'to the account')
      t.match(await store.message('to the account'), { direction: 'incoming' })
      await sent(first, chat, 'from the account')
      await friend.sees(({ body }) => body === 'from the account')
      await network.server.kill()
      await network.server.up()
      friend.send(account.jid, 'after a restart')
      await store.message('after a restart')
      // Of a gap that nobody can look into the account's owner is told, once.
      const told = first.reports.filter(([report]) => report === 'skipped')
      t.strictSame(told, withoutArchive ? [['skipped', 'unknown']] : [])
    })
  }
}
