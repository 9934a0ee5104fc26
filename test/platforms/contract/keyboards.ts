/** A platform with keyboards shows them to whoever a message is for, until they are taken away. */
import type { Test } from 'tap'
import type { ContractHarness } from './harness.ts'
import { patience } from './recorder.ts'
import { able, need, scene, sent, words } from './scene.ts'

export async function keyboardContract(t: Test, harness: ContractHarness) {
  if (!harness.platform.capabilities.replyKeyboards) return
  await able(t, harness, ['peerContent'], 'one is brought, exchanged and taken away', async (t) => {
    const { first, peer } = await scene(t, harness)
    const standing = need(peer.keyboard, 'peerContent').bind(peer)
    const bring = async (keyboard: object) => {
      const text = words('keyboard')
      const message = await sent(first, peer.chat, text, { keyboard })
      t.equal(message.buttons, undefined, 'it is no part of the message')
      await peer.sees(text, patience())
      return keyboard
    }
    t.equal(await standing(), undefined)
    const rows = [
      [{ text: 'Yes' }, { text: 'My number', more: { request_contact: true } }],
      [{ text: 'No' }],
    ]
    const looks = { isPersistent: true, isFitted: true, isForOnce: true, placeholder: 'Choose' }
    t.strictSame(await bring({ kind: 'keys', rows, ...looks }), await standing())
    t.strictSame(await bring({ kind: 'keys', rows: [[{ text: 'Other' }]] }), await standing())
    await bring({ kind: 'none' })
    t.equal(await standing(), undefined)
    t.strictSame(await bring({ kind: 'answer', placeholder: 'Your name' }), await standing())
  })
}
