/** Formatting of texts on Telegram accounts: what was written is what is read, in the same places. */
import { Long } from '@mtcute/core'
import t from 'tap'
import type { TextEntity } from '../../machines/model/text.ts'
import { entitiesOf, textOf } from '../../src/platforms/telegram/entities.ts'

/** The second letter is two UTF-16 code units long. */
const text = 'a😀b c d e f g h i j k l'
const at = (offset: number, length = 1) => ({ offset, length })

const friend = { _: 'inputUser', userId: 7, accessHash: Long.ZERO } as const
const written = (entities: readonly TextEntity[]) =>
  entitiesOf({ text, entities }, async (native) => (native === '7' ? friend : undefined))

t.test('every formatting comes back as it was given', async (t) => {
  const entities: readonly TextEntity[] = [
    { type: 'bold', ...at(1, 2) },
    { type: 'italic', ...at(3) },
    { type: 'underline', ...at(5) },
    { type: 'strikethrough', ...at(7) },
    { type: 'spoiler', ...at(9) },
    { type: 'code', ...at(11) },
    { type: 'pre', ...at(13), language: 'python' },
    { type: 'pre', ...at(14) },
    { type: 'blockquote', ...at(15) },
    { type: 'expandable_blockquote', ...at(17) },
    { type: 'text_link', ...at(19), url: 'https://example.org/' },
    { type: 'custom_emoji', ...at(1, 2), customEmojiId: '5368324170671202286' },
    { type: 'date_time', ...at(21), unixTime: 1_800_000_000 },
    { type: 'date_time', ...at(21), unixTime: 1_800_000_000, timeFormat: 'r' },
    { type: 'date_time', ...at(21), unixTime: 1_800_000_000, timeFormat: 'wDT' },
    { type: 'date_time', ...at(21), unixTime: 1_800_000_000, timeFormat: 'dt' },
  ]
  t.strictSame(textOf(text, await written(entities)), { text, entities })
})

t.test(
  'a range that the text does not have, or that cuts a character in half, is none',
  async (t) => {
    const bold = (offset: number, length: number) =>
      ({ _: 'messageEntityBold', offset, length }) as const
    const { length } = text
    const wrong = [bold(-1, 2), bold(0, length + 1), bold(length, 1), bold(3, 0), bold(5, -1)]
    const halves = [bold(2, 2), bold(0, 2), bold(1, 1)]
    t.strictSame(textOf(text, [...wrong, ...halves]).entities, [])
    t.equal(textOf(text, [bold(0, length), bold(1, 2), bold(0, 1)]).entities.length, 3)
  },
)

t.test('a person is named where the network lets itself name them', async (t) => {
  const mention = (person: string) => ({ type: 'text_mention', ...at(0), person })
  t.match(await written([mention('7'), mention('8')]), [
    { _: 'inputMessageEntityMentionName', userId: friend, ...at(0) },
  ])
  const named = { _: 'messageEntityMentionName', ...at(0), userId: 7 } as const
  t.strictSame(textOf(text, [named]).entities, [mention('7')])
})

t.test('what the network finds by itself is read, and not written', async (t) => {
  const found = {
    mention: 'messageEntityMention',
    hashtag: 'messageEntityHashtag',
    cashtag: 'messageEntityCashtag',
    bot_command: 'messageEntityBotCommand',
    url: 'messageEntityUrl',
    email: 'messageEntityEmail',
    phone_number: 'messageEntityPhone',
  } as const
  for (const [type, _] of Object.entries(found)) {
    t.strictSame(textOf(text, [{ _, ...at(0) }]).entities, [{ type, ...at(0) }], type)
    t.strictSame(await written([{ type, ...at(0) }]), [], type)
  }
})
