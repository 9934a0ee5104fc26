/** Methods about gifts and premium subscriptions that are bought with Stars. */
import { failed } from '../../../machines/model/failure.ts'
import type { PublicChat } from '../../../machines/model/operation.ts'
import { GIFT_GROUPS } from '../../../machines/model/operation-gifts.ts'
import type { Arguments } from '../arguments.ts'
import { type Call, type Method, namingChat, result } from '../method.ts'
import { pollTextOf } from '../text.ts'

const said = { text: 'string', text_parse_mode: 'string', text_entities: 'json' } as const
/** Formatted texts are read by `pollTextOf`, which takes the name of any parameter. */
const textOf = (args: Arguments) => pollTextOf(args, 'text')

const groups = Object.fromEntries(
  [...GIFT_GROUPS, 'from_blockchain'].map((group) => [`exclude_${group}`, 'boolean' as const]),
)
const page = { ...groups, sort_by_price: 'boolean', offset: 'string', limit: 'integer' } as const

const pageOf = (args: Arguments) => {
  const after = args.text('offset')
  return {
    without: GIFT_GROUPS.filter((group) => args.boolean(`exclude_${group}`)),
    byPrice: args.boolean('sort_by_price'),
    ...(after !== undefined && { after }),
    limit: args.has('limit') ? args.integer('limit', { min: 1, max: 100 }) : 100,
  }
}

const owned = (
  name: string,
  summary: string,
  parameters: Method['parameters'],
  ownerOf: (call: Call) => PublicChat | undefined,
): Method => ({
  name,
  summary,
  scope: undefined,
  operation: 'owned_gifts',
  parameters: { ...parameters, ...page },
  required: Object.keys(parameters),
  run: async (call) => {
    const { args, perform } = call
    const chat = ownerOf(call)
    const place = chat === undefined ? {} : { chat }
    return result(await perform({ kind: 'owned_gifts', ...place, ...pageOf(args) }))
  },
})

export const ownedByBusiness = (assertBusiness: (call: Call) => void): Method =>
  owned(
    'getBusinessAccountGifts',
    'The gifts of a business',
    { business_connection_id: 'string' },
    (call) => {
      assertBusiness(call)
      return undefined
    },
  )

export const giftMethods: readonly Method[] = [
  {
    name: 'getAvailableGifts',
    summary: 'Gifts that can be sent',
    scope: undefined,
    operation: undefined,
    parameters: {},
    required: [],
    run: async ({ platform, perform }) => {
      // On a network without gifts the list is empty.
      const hasGifts = platform.capabilities.operations.includes('available_gifts')
      return result(hasGifts ? await perform({ kind: 'available_gifts' }) : { gifts: [] })
    },
  },
  namingChat({
    name: 'sendGift',
    summary: 'Sends a gift to a person or a channel',
    scope: 'bot:send',
    operation: 'send_gift',
    parameters: {
      user_id: 'integer',
      chat_id: 'chat',
      gift_id: 'string',
      pay_for_upgrade: 'boolean',
      ...said,
    },
    required: ['gift_id'],
    sends: true,
    run: async ({ args, perform }) => {
      const text = textOf(args)
      const chat = args.has('chat_id') ? args.chat() : args.userId()
      const gift = args.text('gift_id')
      if (gift === undefined) throw failed('bad_request', 'STARGIFT_INVALID')
      const paysUpgrade = args.boolean('pay_for_upgrade')
      return result(await perform({ kind: 'send_gift', chat, gift, text, paysUpgrade }))
    },
  }),
  {
    name: 'giftPremiumSubscription',
    summary: 'Gives a person premium for some months',
    scope: 'bot:send',
    operation: 'gift_premium',
    parameters: { user_id: 'integer', month_count: 'integer', star_count: 'integer', ...said },
    required: ['user_id', 'month_count', 'star_count'],
    once: true,
    run: async ({ args, perform }) =>
      result(
        await perform({
          kind: 'gift_premium',
          person: args.userId(),
          months: args.integer('month_count', { min: 0, max: 1000 }),
          stars: args.integer('star_count', { min: 0, max: 1_000_000 }),
          text: textOf(args),
        }),
      ),
  },
  owned('getUserGifts', 'The gifts of a person', { user_id: 'integer' }, ({ args }) =>
    args.userId(),
  ),
  namingChat(
    owned('getChatGifts', 'The gifts of a channel', { chat_id: 'chat' }, ({ args }) => args.chat()),
  ),
]
