/** Stories of the sandbox end when their time is over. */
import t from 'tap'
import { fileOwner, fileToSend } from '../support/files.ts'
import { perform, sent } from './contract/scene.ts'
import { stage } from './sandbox/stage.ts'

t.test('a story is over after its time, but for its owner and where it is kept', async (t) => {
  const { db, media, sandbox, time, online, register } = await stage(t)
  const { person, session } = await online()
  const other = await register()
  await sent(session, `${other.id}`, 'we know each other')
  const owner = await fileOwner(db)
  const post = async (text: string, activeSeconds: number, isKept = false) => {
    const photo = await fileToSend(media, owner, 'photo')
    const caption = { text, entities: [] }
    await perform(session, { kind: 'post_story', media: photo, caption, activeSeconds, isKept })
  }
  const captions = async (viewer: number) =>
    (await sandbox.people.stories(viewer, 100)).map(({ caption }) => caption.text).toSorted()
  await post('long', 48 * 3600)
  await post('short', 6 * 3600)
  await post('kept', 6 * 3600, true)
  t.same(await captions(other.id), ['kept', 'long', 'short'])
  time.ahead = 6 * 3_600_000 + 1_000
  t.same(await captions(other.id), ['kept', 'long'])
  time.ahead = 48 * 3_600_000 + 1_000
  t.same(await captions(other.id), ['kept'])
  t.same(await captions(person.id), ['kept', 'long', 'short'], 'all of it is in the own archive')
  await sandbox.people.change(person.id, { deactivated: true })
  t.same(await captions(other.id), [], 'a deleted account has none')
})
