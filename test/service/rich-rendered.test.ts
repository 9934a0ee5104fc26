/** Every block of a rich message, and a quote in an answer, on networks that have no rich messages: Telegram's people, XMPP. */
import t, { type Test } from 'tap'
import { linkOver } from '../platforms/telegram/over-http.ts'
import { Stage } from '../platforms/telegram/stage.ts'
import { type Client, until } from '../support/client.ts'
import { prosodyMissing } from '../support/prosody.ts'
import { type Service, startService } from '../support/service.ts'
import { callWithFiles } from './files.ts'
import { linkedXmpp } from './xmpp-scene.ts'

const words = { type: 'paragraph', text: 'words' }
const caption = { text: 'seen', credit: 'Ada' }
const file = { media: 'attach://file' }
const kinds = ['animation', 'audio', 'document', 'photo', 'video', 'voice_note']
const map = 'https://www.openstreetmap.org/?mlat=1&mlon=2'

interface Row {
  readonly block: object
  readonly text: string
  /** Each mark with its words. */
  readonly marks?: readonly (readonly [type: string, words: string])[]
  /** The body on XMPP; absent: the text. */
  readonly styled?: string
}

const ROWS: readonly Row[] = [
  { block: words, text: 'words' },
  {
    block: { type: 'heading', text: 'words', size: 2 },
    text: 'words',
    marks: [['bold', 'words']],
    styled: '*words*',
  },
  {
    block: { type: 'pre', text: 'words', language: 'js' },
    text: 'words',
    marks: [['pre', 'words']],
    styled: '```js\nwords\n```',
  },
  ...['footer', 'thinking'].map(
    (type): Row => ({
      block: { type, text: 'words' },
      text: 'words',
      marks: [['italic', 'words']],
      styled: '_words_',
    }),
  ),
  { block: { type: 'divider' }, text: '———' },
  {
    block: { type: 'mathematical_expression', expression: 'x^2' },
    text: 'x^2',
    marks: [['pre', 'x^2']],
    styled: '```\nx^2\n```',
  },
  {
    block: {
      type: 'list',
      items: [
        { blocks: [words], value: 3, type: '1' },
        { blocks: [words], has_checkbox: true, is_checked: true },
      ],
    },
    text: '3. words\n☑ words',
  },
  {
    block: { type: 'blockquote', blocks: [words], credit: 'Ada' },
    text: 'words\n— Ada',
    marks: [
      ['blockquote', 'words\n— Ada'],
      ['italic', 'Ada'],
    ],
    styled: '> words\n> — _Ada_',
  },
  {
    block: { type: 'expandable_blockquote', text: 'words' },
    text: 'words',
    marks: [['expandable_blockquote', 'words']],
    styled: '> words',
  },
  {
    block: { type: 'pullquote', text: 'words' },
    text: 'words',
    marks: [['blockquote', 'words']],
    styled: '> words',
  },
  {
    block: { type: 'table', cells: [[{ text: 'name' }, { text: 'n' }], [{ text: 'a' }]] },
    text: 'name | n\na',
    marks: [['pre', 'name | n\na']],
    styled: '```\nname | n\na\n```',
  },
  {
    block: { type: 'details', summary: 'more', blocks: [words] },
    text: 'more\n\nwords',
    marks: [['bold', 'more']],
    styled: '*more*\n\nwords',
  },
  {
    block: { type: 'map', location: { latitude: 1, longitude: 2 }, caption },
    text: '1, 2\nseen\n— Ada',
    marks: [
      ['text_link', '1, 2'],
      ['italic', 'Ada'],
    ],
    styled: `1, 2 (${map})\nseen\n— _Ada_`,
  },
  {
    block: { type: 'buttons', buttons: [{ text: 'Web', url: 'https://a.example/' }] },
    text: '[Web]',
    marks: [['text_link', 'Web']],
    styled: '[Web (https://a.example/)]',
  },
]

/** Each shows one file, with its caption. */
const FILES = [
  ...kinds.map((type) => ({ type, [type]: { type, ...file }, caption })),
  ...['collage', 'slideshow'].map((type) => ({
    type,
    blocks: [{ type: 'document', document: { type: 'document', ...file } }],
    caption,
  })),
]

interface Place {
  readonly service: Service
  readonly client: Client
  readonly key: string
  readonly chat: number | string
}

const marksIn = (
  text: string,
  entities: readonly { type: string; offset: number; length: number }[] = [],
) =>
  entities
    .filter(({ type }) => type !== 'url')
    .map(({ type, offset, length }) => [type, text.slice(offset, offset + length)])

async function send({ client, key, chat }: Place, parameters: object) {
  const { body } = await client.bot(key, 'sendRichMessage', { chat_id: chat, ...parameters })
  if (!body.ok) throw new Error(body.description)
  return body.result
}

async function withFiles(t: Test, { service, key, chat }: Place) {
  for (const block of FILES) {
    const parameters = { chat_id: chat, rich_message: { blocks: [words, block] } }
    const { body } = await callWithFiles(service.url, key, 'sendRichMessage', parameters, {
      file: { bytes: picture, name: 'file.jpg' },
    })
    t.match(body, { ok: true }, `${block.type}: ${body.description}`)
    t.match(body.result, { caption: /^words\n\nseen\n— .?Ada.?$/ }, block.type)
  }
}

const picture = Buffer.from(
  await (await import('sharp'))
    .default({ create: { width: 200, height: 100, channels: 3, background: '#3377aa' } })
    .jpeg()
    .toBuffer(),
)

t.test("Telegram's people", async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  let service: Service | undefined
  const media = { open: async (blob: string) => service!.gateway.media.service.open(blob) }
  service = await startService(t, { platforms: [stage.platform({ media })] })
  const client = await service.client()
  const [person, friend] = [network.person(), network.person()]
  const { key } = await linkOver(client, person)
  const place = { service, client, key, chat: friend.id }
  for (const { block, text, marks = [] } of ROWS) {
    const message = await send(place, { rich_message: { blocks: [block] } })
    t.equal(message.text, text, JSON.stringify(block))
    t.same(marksIn(message.text, message.entities), marks, JSON.stringify(block))
  }
  await withFiles(t, place)
})

t.test('XMPP', { skip: prosodyMissing ?? false }, async (t) => {
  const { service, client, jid, friend, friendJid, key } = await linkedXmpp(t, 'rich')
  const place = { service, client, key, chat: `@${friendJid}` }
  const blocks = ROWS.map(({ block }) => block)
  await send(place, { rich_message: { blocks } })
  const expected = ROWS.map(({ text, styled = text }) => styled).join('\n\n')
  const { body } = await friend.sees((seen) => seen.body?.startsWith('words\n\n*words*') === true)
  t.equal(body, expected)
  await withFiles(t, place)

  friend.send(jid, 'tea or coffee?')
  const [{ message }] = await until(async () => {
    const updates = (await client.bot(key, 'getUpdates')).body.result
    return updates.length > 0 && updates
  })
  const reply_parameters = { message_id: message.message_id, quote: 'tea 👋' }
  const answer = { chat_id: place.chat, text: 'gladly', reply_parameters }
  t.match(await client.bot(key, 'sendMessage', answer), { status: 200 })
  const quoting = await friend.sees((seen) => seen.body?.endsWith('gladly') === true)
  t.equal(quoting.body, '> tea 👋\ngladly')
  t.ok(quoting.replyTo)
  t.same(quoting.quoted, [0, 8])
})
