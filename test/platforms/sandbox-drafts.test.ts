/** Drafts of the sandbox fade when no message follows them. */
import t from 'tap'
import { perform } from './contract/scene.ts'
import { stage } from './sandbox/stage.ts'

t.test('a draft is seen for half a minute after its last word', async (t) => {
  const { sandbox, time, online, register } = await stage(t)
  const { session } = await online()
  const reader = await register()
  const write = (draft: number, text: string) =>
    perform(session, {
      kind: 'draft',
      chat: `${reader.id}`,
      draft,
      text: { text, entities: [] },
    })
  const seen = async () => (await sandbox.inboxes.drafts(reader.id)).map(({ text }) => text.text)
  await write(1, 'one')
  time.ahead = 20_000
  await write(2, 'two')
  await write(1, 'one more')
  time.ahead = 45_000
  t.same(await seen(), ['one more', 'two'])
  time.ahead = 55_000
  t.same(await seen(), [])
  await write(3, 'three')
  t.same(await seen(), ['three'])
})
