/** A story of an account of Telegram is changed while it is shown. */
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { perform, refusalOf } from './contract/scene.ts'
import { live } from './telegram/live.ts'
import { Stage } from './telegram/stage.ts'

t.test('the picture and the words of a story are replaced', async (t) => {
  const stage = await Stage.start(t)
  const { person, friend, listen } = await live(t, stage)
  stage.network.delivery.send(friend, person, { message: 'hello' })
  const session = await listen()
  const caption = (text: string) => ({ text, entities: [] })
  const media = () => stage.file('photo', randomBytes(2_000))
  const posting = { media: media(), caption: caption('before'), activeSeconds: 86_400 }
  const posted = await perform(session, { kind: 'post_story', ...posting })
  if (posted.kind !== 'story') throw new Error('no story')
  const { id: story } = posted.story
  const before = person.stories.get(story)
  const edit = { kind: 'edit_story', story, media: media(), caption: caption('after') } as const
  t.match(await perform(session, edit), { kind: 'story', story: { id: story } })
  const after = person.stories.get(story)
  t.match(after, { caption: 'after', edited: true, expireDate: before?.expireDate })
  t.not(JSON.stringify(after?.media), JSON.stringify(before?.media))
  t.match(await refusalOf(perform(session, { ...edit, media: media(), story: 999 })), {
    code: 'bad_request',
    description: 'story not found',
  })
})
