/** Direct messages of channels, and the posts that are suggested in them, in the terms of the network and in neutral ones. */
import { Long, type tl } from '@mtcute/node'
import type { Chat } from '../../../machines/model/content.ts'
import { failed, notFound, RequestFailed } from '../../../machines/model/failure.ts'
import type {
  DirectTerms,
  PostFact,
  PostTerms,
  SuggestedPost,
} from '../../../machines/model/payment.ts'
import type { Calls } from './calls.ts'
import type { ExistingMessage } from './find-message.ts'
import { personById, type View } from './reading/peers.ts'

type Price = NonNullable<PostTerms['price']>

const priceOf = (price: tl.TypeStarsAmount): Price => ({
  currency: price._ === 'starsAmount' ? 'XTR' : 'TON',
  amount: price.amount.toNumber(),
})

const amountOf = ({ currency, amount }: Price): tl.TypeStarsAmount =>
  currency === 'XTR'
    ? { _: 'starsAmount', amount: Long.fromNumber(amount), nanos: 0 }
    : { _: 'starsTonAmount', amount: Long.fromNumber(amount) }

/** The chat of a message, with the person in whose conversation with the channel it stands. */
export function conversationOf({ savedPeerId }: ExistingMessage, chat: Chat, view: View): Chat {
  if (!chat.isDirect || savedPeerId?._ !== 'peerUser') return chat
  return { ...chat, directWith: personById(savedPeerId.userId, view) }
}

export function suggestionOf(post: tl.TypeSuggestedPost): SuggestedPost {
  const { accepted, rejected, price, scheduleDate: sendAt } = post
  return {
    state: accepted ? 'approved' : rejected ? 'declined' : 'pending',
    ...(price && { price: priceOf(price) }),
    ...(sendAt !== undefined && { sendAt }),
  }
}

type PostAction =
  | tl.RawMessageActionSuggestedPostApproval
  | tl.RawMessageActionSuggestedPostSuccess
  | tl.RawMessageActionSuggestedPostRefund

/** Whether an update reports the outcome of a suggestion. */
export const tellsOutcome = (update: tl.TypeUpdate): boolean =>
  update._ === 'updateNewChannelMessage' &&
  update.message._ === 'messageService' &&
  update.message.action._ === 'messageActionSuggestedPostApproval'

/** The service message answers the message with the suggestion. */
export function postFactOf(
  action: PostAction,
  { date, replyTo }: tl.RawMessageService,
): PostFact<never> {
  const answered = replyTo?._ === 'messageReplyHeader' ? replyTo.replyToMsgId : undefined
  const about = answered !== undefined && { message: `${answered}` }
  switch (action._) {
    case 'messageActionSuggestedPostApproval':
      return { ...answerOf(action, date), ...about }
    case 'messageActionSuggestedPostSuccess': {
      const billionths = 'nanos' in action.price ? action.price.nanos : 0
      const price = priceOf(action.price)
      return { fact: 'post_paid', price, ...about, ...(billionths !== 0 && { billionths }) }
    }
    case 'messageActionSuggestedPostRefund': {
      const reason = action.payerInitiated ? 'payment_refunded' : 'post_deleted'
      return { fact: 'post_refunded', reason, ...about }
    }
  }
}

/** A post without a date is published at once. */
function answerOf(action: tl.RawMessageActionSuggestedPostApproval, date: number): PostFact<never> {
  const { rejected, rejectComment: comment, balanceTooLow, scheduleDate: sendAt = date } = action
  const price = action.price && priceOf(action.price)
  if (rejected) return { fact: 'post_declined', ...(comment && { comment }) }
  // Only a post that costs something can be too dear.
  if (balanceTooLow && price) return { fact: 'post_approval_failed', price }
  return { fact: 'post_approved', sendAt, ...(price && { price }) }
}

export const inputPostOf = ({ price, sendAt }: PostTerms): tl.RawSuggestedPost => ({
  _: 'suggestedPost',
  ...(price && { price: amountOf(price) }),
  ...(sendAt !== undefined && { scheduleDate: sendAt }),
})

interface Asking {
  readonly calls: Calls
  /** The account's own native id. */
  readonly self: string
  readonly signal: AbortSignal
}

/** The place of a message in the conversation with a person; empty where the chat alone says it. */
export async function conversationFor(
  { calls, self, signal }: Asking,
  { chat, directTopic, suggested }: DirectTerms<string> & { readonly chat: string },
): Promise<{ monoforumPeerId?: tl.TypeInputPeer }> {
  if (directTopic === undefined && !suggested) return {}
  const peer = await calls.peer(chat, signal)
  const place = await directMessagesAt(calls, peer)
  if (!place) {
    throw failed(
      'bad_request',
      suggested
        ? 'suggested posts can be sent only to channel direct messages'
        : 'chat is not an administered channel direct messages chat',
    )
  }
  if (directTopic === undefined) return {}
  if (directTopic === self) {
    // A person who writes to a channel has one conversation with it; an account that answers for it has none with itself.
    if (await answersFor(calls, place)) throw notFound('direct messages topic')
    return {}
  }
  return { monoforumPeerId: await calls.peer(directTopic, signal).catch(noConversation) }
}

/** Undefined where the chat is another one. */
async function directMessagesAt(
  calls: Calls,
  peer: tl.TypeInputPeer,
): Promise<tl.RawChannel | undefined> {
  if (peer._ !== 'inputPeerChannel') return undefined
  const { channelId } = peer
  const { chats } = await calls.known([{ _: 'peerChannel', channelId }])
  const chat = chats.get(channelId)
  return chat?._ === 'channel' && chat.monoforum === true ? chat : undefined
}

/** Whether the account writes there in the name of the channel. Its rights stand with the channel, not with this chat. */
async function answersFor(
  calls: Calls,
  { linkedMonoforumId: channelId }: tl.RawChannel,
): Promise<boolean> {
  if (channelId === undefined) return false
  const { chats } = await calls.known([{ _: 'peerChannel', channelId }])
  const channel = chats.get(channelId)
  if (channel?._ !== 'channel') return false
  return channel.creator === true || channel.adminRights?.manageDirectMessages === true
}

function noConversation(cause: unknown): never {
  const isUnknown = cause instanceof RequestFailed && cause.failure.reason === 'chat_not_found'
  throw isUnknown ? notFound('direct messages topic') : cause
}
