/** Steps: programs that only send tell people something, in their own words around it. */
import { expect } from '../includes.ts'
import type { Stage } from '../stage.ts'
import type { Step } from './step.ts'

const notify = (stage: Stage, more: object) =>
  stage.call('notify', { chat_id: stage.account.ada.id, ...more })

/** Both texts stand somewhere in one message. */
const saying =
  (...texts: readonly string[]) =>
  (said: unknown) =>
    texts.every((text) => String(said).includes(text))

export const noticeSteps: readonly Step[] = [
  [
    'notice',
    async (stage) => {
      expect(await notify(stage, { title: 'Kettle', body: 'It boils' }), true)
      await stage.sees({ text: saying('Kettle', 'It boils') })
    },
  ],
  [
    'signs of markup',
    async (stage) => {
      const body = 'a_b *c* <d> [e](f) 1.5 & more'
      expect(await notify(stage, { title: 'Marks', body }), true)
      await stage.sees({ text: saying('Marks', body) })
    },
  ],
  [
    'notice to a group',
    async (stage) => {
      const chat_id = await stage.group()
      expect(await notify(stage, { chat_id, title: 'All', body: 'Tea is ready' }), true)
      const { client, ada } = stage.account
      const path = `/sandbox/people/${ada.id}/inbox?chat=${chat_id}&wait_seconds=10`
      const { messages } = await client.result('GET', path)
      expect(messages, [{ text: saying('All', 'Tea is ready') }])
    },
  ],
  [
    'notice after a restart of the service',
    async (stage) => {
      await stage.restart()
      expect(await notify(stage, { title: 'Back', body: 'Up again' }), true)
      await stage.sees({ text: saying('Back', 'Up again') })
    },
  ],
  [
    'chat that is none',
    async (stage) => {
      expect(await notify(stage, { chat_id: 1, title: 'To', body: 'nobody' }), false)
    },
  ],
]

export const attachmentSteps: readonly Step[] = [
  [
    'notice with a picture and a file',
    async (stage) => {
      const { picture, document } = stage.account.files
      for (const attachment of [picture, document]) {
        expect(await notify(stage, { title: 'See', body: 'the file', attachment }), true)
      }
      await stage.sees({ media: { type: 'photo' } })
      await stage.sees({ media: { type: 'document', file_name: 'notes.txt' } })
    },
  ],
]
