/** A rich message on networks that have none: a text, or a file with its caption, with the entities they know. */
import t from 'tap'
import { RequestFailed } from '../../machines/model/failure.ts'
import { Arguments } from '../../src/bot-api/arguments.ts'
import type { Call } from '../../src/bot-api/method.ts'
import { richContent } from '../../src/bot-api/rich/content.ts'

const callOf = (rich_message: object, capabilities: object) =>
  ({
    args: new Arguments([['rich_message', JSON.stringify(rich_message)]]),
    platform: { name: 'Net', capabilities: { content: ['text'], entities: [], ...capabilities } },
    key: { facts: { userId: 1, credentialId: 1 } },
    uploads: new Map(),
    signal: () => new AbortController().signal,
    world: { fileIds: { read: () => ({ kind: 'photo', native: 'n' }) } },
  }) as unknown as Call

const picture = {
  type: 'photo',
  photo: { type: 'photo', media: 'known' },
  caption: { text: 'seen' },
}

t.test(
  'it is a text with all its marks, of which the network takes those that it knows',
  async (t) => {
    const rich = { markdown: '# Tea\nor *cake*' }
    const words = { kind: 'text', text: 'Tea\n\nor cake' }
    const entities = [
      { type: 'bold', offset: 0, length: 3 },
      { type: 'italic', offset: 8, length: 4 },
    ]
    t.strictSame(await richContent(callOf(rich, { entities: ['bold'] })), { ...words, entities })
    t.match(await richContent(callOf(rich, { content: ['rich'] })), {
      kind: 'rich',
      blocks: [{ type: 'heading' }, { type: 'paragraph' }],
    })
  },
)

t.test('one file brings the text as its caption, several are refused', async (t) => {
  t.match(await richContent(callOf({ blocks: [picture] }, {})), {
    kind: 'media',
    media: { kind: 'photo', file: { native: 'n' } },
    caption: { text: 'seen' },
  })
  const two = richContent(callOf({ blocks: [picture, picture] }, {}))
  await t.rejects(
    two,
    new RequestFailed({
      code: 'bad_request',
      description:
        'parameter "rich_message" is not supported on Net: the network shows one file in a message, and it has 2',
    }),
  )
})
