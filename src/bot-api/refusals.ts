/** Why a method is refused on a platform, and what would help: in the words that libraries test for. */

import type { Platform } from '../../actors/ports/platform.ts'
import { failed } from '../../machines/model/failure.ts'

/** What a method is about, by its name; the first that fits counts. */
const SUBJECTS: readonly (readonly [RegExp, subject: string])[] = [
  [/Game/, 'games'],
  [/Business/, 'business accounts'],
  [/Gift|giftPremium/, 'gifts'],
  [/Ephemeral/, 'messages that one member of a chat alone can see'],
  [/Inline|GuestQuery/, 'inline mode'],
  [/WebApp|KeyboardButton|Widget/, 'web apps'],
  [/Invoice|Payment|Star|ShippingQuery|PreCheckout|PaidMedia|Subscription/, 'payments'],
  [/Passport/, 'passports'],
  [/[Vv]erif/, 'verification by bots'],
  [/ManagedBot/, 'bots that manage bots'],
  [/Story/, 'stories'],
  [/Checklist/, 'checklists'],
  [/SuggestedPost/, 'suggested posts'],
  [/Rich/, 'rich messages'],
  [/LivePhoto/, 'live photos'],
  [/Draft/, 'drafts that others see'],
  [/Sticker|Emoji/, 'sticker sets'],
  [/ForumTopic/, 'topics'],
  [/Poll/, 'polls'],
  [/Dice/, 'dice'],
  [/Reaction/, 'reactions of this kind'],
  [/LiveLocation|Venue/, 'places of this kind'],
  [/VideoNote/, 'video notes'],
  [/InviteLink|JoinRequest/, 'invite links of this kind'],
  [/[pP]in/, 'pinned messages'],
  [/ReplyMarkup|CallbackQuery/, 'inline keyboards'],
  [/Tag|CustomTitle/, 'titles of members'],
]

/** On the reference's own network a person's account may do less than a bot. */
const FOR_BOTS =
  /Game|Inline|GuestQuery|WebApp|KeyboardButton|Widget|Invoice|Shipping|PreCheckout|Payment|Passport|[Vv]erif|ManagedBot|Business|Ephemeral|CallbackQuery|ReplyMarkup|Rich|Draft/

export function methodRefused(platform: Platform, method: string): Error {
  const subject = SUBJECTS.find(([names]) => names.test(method))?.[1]
  const isForBots = platform.capabilities.reference === 'people' && FOR_BOTS.test(method)
  const reason = isForBots
    ? "only bots may; link a bot's token instead"
    : reasonFor(platform, subject ? `no ${subject}` : 'nothing like it')
  return failed('bad_request', `method ${method} not found on ${platform.name}: ${reason}`)
}

/** `lacking` names what another network would have to have, with a "no" before it. */
export function reasonFor({ capabilities }: Platform, lacking: string): string {
  switch (capabilities.reference) {
    case 'bots':
      return 'the gateway does not pass it on yet'
    case 'people':
      return "the gateway does not do it with a person's account"
    default:
      return `the network has ${lacking}`
  }
}
