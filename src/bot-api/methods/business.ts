/** Methods by which an account acts for a business that has connected it. */

import { badRequest, notFound } from '../../../machines/model/failure.ts'
import type { AcceptedGifts } from '../../../machines/model/gift.ts'
import type { PublicChat, PublicOperation } from '../../../machines/model/operation.ts'
import type { Arguments } from '../arguments.ts'
import {
  type Call,
  type Method,
  namingChat,
  onlyOnce,
  type ParameterType,
  result,
} from '../method.ts'
import { profilePhoto } from './files.ts'
import { messageIdsOf } from './forwarding.ts'
import { ownedByBusiness } from './gifts.ts'

/** Requires a connection, except on networks whose accounts act only for themselves. */
export function assertBusiness({ args, platform }: Call): void {
  const hasBusinesses = platform.capabilities.operations.includes('for_business')
  if (hasBusinesses && !args.has('business_connection_id')) {
    throw notFound('business connection')
  }
}

/** `required` beside the connection, by which `perform` acts as the owner of the business. */
const forBusiness = (
  name: string,
  summary: string,
  operation: PublicOperation['kind'],
  parameters: Readonly<Record<string, ParameterType>>,
  required: readonly string[],
  read: (call: Call) => Promise<PublicOperation> | PublicOperation,
): Method => ({
  name,
  summary,
  scope: 'bot:send',
  operation,
  parameters: { business_connection_id: 'string', ...parameters },
  required: ['business_connection_id', ...required],
  run: async (call) => {
    // As in the reference, other missing parameters are refused before a missing connection.
    const operation = await read(call)
    assertBusiness(call)
    return result(await call.perform(operation))
  },
})

const text = ({ args }: Call, name: string, length: number, problem: string): string => {
  const value = (args.text(name) ?? '').trim()
  if ([...value].length > length) throw badRequest(problem)
  return value
}

const stars = ({ args }: Call, min: number) => args.integer('star_count', { min, max: 1_000_000 })

function chatIn(args: Arguments, name: string): PublicChat {
  if (!args.has(name)) throw badRequest('chat identifier is empty')
  return args.chat(name)
}

const giftOf = ({ args }: Call): string => args.text('owned_gift_id') ?? ''
const gift = { owned_gift_id: 'string' } as const

export const businessMethods: readonly Method[] = [
  {
    ...forBusiness(
      'getBusinessConnection',
      'The connection of a business to this account',
      'for_business',
      {},
      [],
      () => ({ kind: 'business_connection' }),
    ),
    scope: undefined,
  },
  forBusiness(
    'readBusinessMessage',
    'Marks a message to the business as read',
    'mark_read',
    { chat_id: 'integer', message_id: 'integer' },
    ['chat_id', 'message_id'],
    ({ args }) => ({
      kind: 'mark_read',
      chat: chatIn(args, 'chat_id'),
      message: args.messageId('message_id'),
    }),
  ),
  forBusiness(
    'deleteBusinessMessages',
    'Deletes messages of one private chat of the business',
    'delete_for_business',
    { message_ids: 'json' },
    ['message_ids'],
    (call) => ({ kind: 'delete_for_business', messages: messageIdsOf(call.args) }),
  ),
  forBusiness(
    'setBusinessAccountName',
    'Renames the business',
    'set_name',
    { first_name: 'string', last_name: 'string' },
    ['first_name'],
    (call) => {
      const firstName = text(call, 'first_name', 64, 'FIRSTNAME_INVALID')
      if (firstName === '') throw badRequest('parameter "first_name" is required')
      const lastName = text(call, 'last_name', 64, 'LASTNAME_INVALID')
      return { kind: 'set_name', firstName, lastName }
    },
  ),
  forBusiness(
    'setBusinessAccountUsername',
    'Gives the business a username, or takes it away',
    'set_username',
    { username: 'string' },
    [],
    (call) => ({
      kind: 'set_username',
      username: text(call, 'username', 32, 'USERNAME_INVALID'),
    }),
  ),
  forBusiness(
    'setBusinessAccountBio',
    'Says what the profile of the business shows',
    'set_about',
    { bio: 'string' },
    [],
    (call) => ({ kind: 'set_about', about: text(call, 'bio', 140, 'ABOUT_TOO_LONG') }),
  ),
  forBusiness(
    'setBusinessAccountProfilePhoto',
    'Gives the business a photo',
    'set_profile_photo',
    { photo: 'json', is_public: 'boolean' },
    ['photo'],
    async (call) => {
      // Without a connection no file is inspected.
      if (call.args.has('photo')) assertBusiness(call)
      return { kind: 'set_profile_photo', ...(await profilePhoto(call)) }
    },
  ),
  forBusiness(
    'removeBusinessAccountProfilePhoto',
    'Removes the newest photo of the business',
    'set_profile_photo',
    { is_public: 'boolean' },
    [],
    () => ({ kind: 'set_profile_photo' }),
  ),
  forBusiness(
    'setBusinessAccountGiftSettings',
    'Says which gifts the business accepts',
    'set_gift_settings',
    { show_gift_button: 'boolean', accepted_gift_types: 'json' },
    ['show_gift_button', 'accepted_gift_types'],
    ({ args }) => ({
      kind: 'set_gift_settings',
      showsButton: args.boolean('show_gift_button'),
      accepted: acceptedOf(args),
    }),
  ),
  forBusiness(
    'getBusinessAccountStarBalance',
    'How many Stars the business has',
    'star_balance',
    {},
    [],
    () => ({ kind: 'star_balance' }),
  ),
  onlyOnce(
    forBusiness(
      'transferBusinessAccountStars',
      'Moves Stars of the business to this account',
      'transfer_stars',
      { star_count: 'integer' },
      ['star_count'],
      (call) => {
        assertBusiness(call)
        const count = stars(call, 0)
        if (count < 1 || count > 10_000) throw badRequest('STARS_AMOUNT_INVALID')
        return { kind: 'transfer_stars', stars: count }
      },
    ),
  ),
  ownedByBusiness(assertBusiness),
  onlyOnce(
    forBusiness(
      'convertGiftToStars',
      'Sells a gift of the business',
      'convert_gift',
      gift,
      ['owned_gift_id'],
      (call) => ({ kind: 'convert_gift', gift: giftOf(call) }),
    ),
  ),
  onlyOnce(
    forBusiness(
      'upgradeGift',
      'Makes a gift of the business a unique one',
      'upgrade_gift',
      { ...gift, keep_original_details: 'boolean', star_count: 'integer' },
      ['owned_gift_id'],
      (call) => ({
        kind: 'upgrade_gift',
        gift: giftOf(call),
        keepsDetails: call.args.boolean('keep_original_details'),
        stars: stars(call, 0),
      }),
    ),
  ),
  namingChat(
    onlyOnce(
      forBusiness(
        'transferGift',
        'Passes a unique gift of the business on',
        'transfer_gift',
        { ...gift, new_owner_chat_id: 'integer', star_count: 'integer' },
        ['owned_gift_id', 'new_owner_chat_id'],
        (call) => ({
          kind: 'transfer_gift',
          gift: giftOf(call),
          chat: chatIn(call.args, 'new_owner_chat_id'),
          stars: stars(call, 0),
        }),
      ),
    ),
  ),
]

function acceptedOf(args: Arguments): AcceptedGifts {
  if (!args.has('accepted_gift_types')) throw badRequest("accepted gift types aren't specified")
  const types = args.members('accepted_gift_types', 'accepted gift types')
  return {
    unlimited: types.boolean('unlimited_gifts'),
    limited: types.boolean('limited_gifts'),
    unique: types.boolean('unique_gifts'),
    premium: types.boolean('premium_subscription'),
    fromChannels: types.boolean('gifts_from_channels'),
  }
}
