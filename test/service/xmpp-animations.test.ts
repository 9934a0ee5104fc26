/** GIFs are what animations are on XMPP: they arrive as they were sent, even where ffmpeg could make films of them. */
import sharp from 'sharp'
import t from 'tap'
import { stillGif } from '../media/still-gif.ts'
import { prosodyMissing } from '../support/prosody.ts'
import { callWithFiles } from './files.ts'
import { xmppScene } from './xmpp-scene.ts'

t.test('sendAnimation of a GIF is an animation', { skip: prosodyMissing ?? false }, async (t) => {
  const { prosody, service, client } = await xmppScene(t, {
    env: { PATH: process.env.PATH ?? '' },
  })
  const jid = await prosody.register('mover', 'secret')
  const friend = await prosody.register('viewer', 'secret')
  const linked = await client.result('POST', '/platforms/xmpp/link/start', {
    jid,
    password: 'secret',
    server: prosody.server,
  })
  const { credential_id } = linked.credential
  await client.state(credential_id, 'active')
  const { key } = await client.key(credential_id)
  const bytes = stillGif({ side: 40, frames: 3 })
  const { body } = await callWithFiles(
    service.url,
    key,
    'sendAnimation',
    { chat_id: `@${friend}` },
    { animation: { bytes, name: 'cat.gif' } },
  )
  t.match(body, { ok: true, result: { animation: { mime_type: 'image/gif', width: 40 } } })
  t.notOk(body.result.video)
  const { file_id } = body.result.animation
  const { file_path } = (await client.bot(key, 'getFile', { file_id })).body.result
  const answer = await fetch(`${service.url}/file/bot${key}/${file_path}`)
  const arrived = Buffer.from(await answer.arrayBuffer())
  t.ok(arrived.equals(bytes), 'byte for byte')
  t.equal((await sharp(arrived, { animated: true }).metadata()).pages, 3)
})
