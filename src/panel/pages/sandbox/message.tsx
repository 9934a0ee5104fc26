/** One message in a chat. */
import { Menu } from '@base-ui/react/menu'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import {
  type Message,
  type PersonApi,
  type PostAnswer,
  type Reaction,
  stickerSetsQuery,
} from '../../api/sandbox.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Form } from '../../ui/form.tsx'
import { Icon, type IconName } from '../../ui/icons.tsx'
import { useReason } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { useOwnChannels } from './acting.ts'
import { Attachment, CustomEmoji } from './attachment.tsx'
import { Content, EffectMark, useSummary } from './content.tsx'
import { InlineKeyboard } from './inline-keyboard.tsx'
import { chatName, personName } from './names.tsx'
import { unixTime } from './new-content.tsx'

interface BubbleProps {
  readonly message: Message
  readonly person: number
  /** The name of the topic it stands in, where several topics are shown at once. */
  readonly topic: string | undefined
  readonly repliedTo: Message | undefined
  /** It belongs to one album with the message before. */
  readonly isJoined: boolean
  readonly api: PersonApi
  reply(): void
  edit(): void
  forward(): void
}

export function Bubble(props: BubbleProps) {
  const { message, isJoined, person, api, reply, edit, forward } = props
  const reason = useReason()
  const toast = useToast()
  const acting = useMutation({
    mutationFn: (act: () => Promise<unknown>) => act(),
    onError: (cause) => toast(reason(cause), 'bad'),
  })
  const channels = useOwnChannels(person)
  const isOwn =
    message.from?.id === person || channels.some(({ id }) => id === message.sender_chat?.id)
  const canEdit = isOwn && (message.text !== undefined || message.media !== undefined)
  const rows = message.inline_keyboard ?? []
  const own = message.reactions?.find((one) => one.person.id === person)
  if (message.service !== undefined) return <Fact message={message} />
  return (
    <li className={['line', isOwn && 'own', isJoined && 'joined'].filter(Boolean).join(' ')}>
      <div className="bubble">
        <Above {...props} isOwn={isOwn} />
        <Content
          message={message}
          mark={(done, undone) => acting.mutate(() => api.mark(message, done, undone))}
          vote={(options) => acting.mutate(() => api.vote(message, options))}
        />
        <Foot message={message} />
        {message.suggestion && (
          <Suggestion
            message={message}
            person={person}
            suggestion={message.suggestion}
            answer={(given) => acting.mutate(() => api.answerPost(message, given))}
          />
        )}
        {rows.length > 0 && <InlineKeyboard message={message} rows={rows} />}
      </div>
      {message.receiver === undefined && (
        <MessageMenu
          isOwn={isOwn}
          canEdit={canEdit}
          reaction={own}
          reply={reply}
          edit={edit}
          forward={forward}
          remove={() => acting.mutate(() => api.remove(message))}
          react={(reaction) => acting.mutate(() => api.react(message, reaction))}
        />
      )}
    </li>
  )
}

/** A service message: a change in the chat. */
function Fact({ message }: Pick<BubbleProps, 'message'>) {
  const summary = useSummary()
  return (
    <li className="fact quiet small">
      {message.from && personName(message.from)} {summary(message)}
      {message.media && <Attachment media={message.media} />}
      {message.caption && (
        <span className="block" dir="auto">
          {message.caption}
        </span>
      )}
    </li>
  )
}

/** The lines above the content: the author, the topic, the origin, the receiver, and the message that it answers. */
function Above({
  message,
  person,
  topic,
  isOwn,
  repliedTo,
}: Pick<BubbleProps, 'message' | 'person' | 'topic' | 'repliedTo'> & {
  readonly isOwn: boolean
}) {
  const t = useT()
  const summary = useSummary()
  const { sender_chat: channel, from } = message
  return (
    <>
      {channel && (
        <span className="label small">{t('messenger.as', { name: chatName(channel) })}</span>
      )}
      {message.chat.type !== 'private' && !isOwn && !channel && from && (
        <span className="label small">{personName(from)}</span>
      )}
      {topic !== undefined && (
        <span className="quiet tiny">
          # <bdi>{topic}</bdi>
        </span>
      )}
      {message.forwarded_from && (
        <span className="quiet tiny">
          {t('messenger.forwarded', { name: message.forwarded_from })}
        </span>
      )}
      {message.via_bot && (
        <span className="quiet tiny">
          {t('messenger.via', { name: personName(message.via_bot) })}
        </span>
      )}
      {message.guest_caller && (
        <span className="quiet tiny">
          {t('messenger.called', { name: personName(message.guest_caller) })}
        </span>
      )}
      {message.receiver && (
        <span className="quiet tiny">
          {message.receiver.id === person
            ? t('messenger.onlyYou')
            : t('messenger.onlyFor', { name: personName(message.receiver) })}
        </span>
      )}
      {message.external_reply && (
        <span className="quiet tiny">
          {t('messenger.answering', { name: message.external_reply.from })}
        </span>
      )}
      {(repliedTo || message.quote) && (
        <span className="quoted small clip" dir="auto">
          {message.quote?.text ?? (repliedTo && summary(repliedTo))}
        </span>
      )}
    </>
  )
}

interface SuggestionProps {
  readonly message: Message
  readonly person: number
  readonly suggestion: NonNullable<Message['suggestion']>
  answer(given: PostAnswer): void
}

/** The terms of a post that one side suggests. The other side approves or declines it. */
function Suggestion({ message, person, suggestion, answer }: SuggestionProps) {
  const t = useT()
  const { money, moment } = useFormats()
  const [asked, ask] = useState<'declining' | 'later'>()
  const { state, star_count: stars, send_date: at } = suggestion
  const writer = message.chat.direct_with?.id
  const isOwnSide = (message.from?.id === writer) === (person === writer)
  const terms = [
    stars !== undefined && money(stars, 'XTR'),
    at !== undefined && t('suggestion.at', { moment: moment(at * 1000) }),
  ]
  return (
    <section className="stack tight" aria-label={t('suggestion.title')}>
      <span className="small">
        <span className="label">{t(`suggestion.${state}`)}</span>{' '}
        {terms.filter(Boolean).join(' · ')}
      </span>
      {state === 'pending' && !isOwnSide && (
        <div className="row">
          <Button size="slim" kind="first" onClick={() => answer({ approve: true })}>
            {t('suggestion.approve')}
          </Button>
          <Button size="slim" onClick={() => ask('later')}>
            {t('suggestion.later')}
          </Button>
          <Button size="slim" onClick={() => ask('declining')}>
            {t('suggestion.decline')}
          </Button>
        </div>
      )}
      {asked === 'declining' && <DeclineDialog answer={answer} onClose={() => ask(undefined)} />}
      {asked === 'later' && <LaterDialog answer={answer} onClose={() => ask(undefined)} />}
    </section>
  )
}

interface AnswerProps extends Pick<SuggestionProps, 'answer'> {
  onClose(): void
}

/** Approves the post for another time than the one that was suggested. */
function LaterDialog({ answer, onClose }: AnswerProps) {
  const t = useT()
  const [time, setTime] = useState('')
  const mutate = () => {
    answer({ approve: true, send_date: unixTime(time) })
    onClose()
  }
  return (
    <Dialog title={t('suggestion.later')} open onClose={onClose}>
      <Form by={{ isPending: false, mutate }}>
        <Field
          label={t('suggestion.when')}
          type="datetime-local"
          className="ltr"
          required
          value={time}
          onChange={(event) => setTime(event.target.value)}
        />
        <div className="actions">
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button type="submit" kind="first">
            {t('suggestion.approve')}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}

function DeclineDialog({ answer, onClose }: AnswerProps) {
  const t = useT()
  const [comment, setComment] = useState('')
  const mutate = () => {
    answer({ approve: false, ...(comment.trim() && { comment: comment.trim() }) })
    onClose()
  }
  return (
    <Dialog title={t('suggestion.declining')} open onClose={onClose}>
      <Form by={{ isPending: false, mutate }}>
        <Field
          label={t('suggestion.comment')}
          maxLength={128}
          dir="auto"
          value={comment}
          onChange={(event) => setComment(event.target.value)}
        />
        <div className="actions">
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button type="submit" kind="first">
            {t('suggestion.decline')}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}

/** The reactions to a message, and when it was written. */
function Foot({ message }: { readonly message: Message }) {
  const t = useT()
  const { hour } = useFormats()
  return (
    <span className="foot quiet tiny">
      {message.reactions?.map((one) => (
        <span
          key={`${one.person.id} ${one.emoji ?? one.custom_emoji_id}`}
          className="reaction"
          title={personName(one.person)}
        >
          {one.emoji ?? <CustomEmoji id={one.custom_emoji_id}>★</CustomEmoji>}
        </span>
      ))}
      <span className="grow" />
      {message.effect_id && <EffectMark id={message.effect_id} />}
      {message.edit_date !== undefined && <span>{t('messenger.edited')}</span>}
      <time dateTime={new Date(message.date * 1000).toISOString()}>
        {hour(message.date * 1000)}
      </time>
    </span>
  )
}

const emoji = ['👍', '❤', '🔥', '😁', '😢', '🎉']

interface MessageMenuProps {
  readonly isOwn: boolean
  readonly canEdit: boolean
  /** This person's own reaction. */
  readonly reaction: Partial<Record<'emoji' | 'custom_emoji_id', string>> | undefined
  reply(): void
  edit(): void
  forward(): void
  remove(): void
  react(reaction: Reaction | undefined): void
}

/** The actions for a message. */
function MessageMenu(props: MessageMenuProps) {
  const { isOwn, canEdit, reaction, reply, edit, forward, remove, react } = props
  const t = useT()
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger
        render={<Button kind="bare" size="slim" icon="more" />}
        aria-label={t('messenger.actions')}
      />
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} className="over">
          <Menu.Popup className="menu">
            <div className="reactions">
              {emoji.map((one) => (
                <Menu.Item
                  key={one}
                  aria-label={t('messenger.react', { emoji: one })}
                  className={one === reaction?.emoji ? 'chosen' : ''}
                  onClick={() => react(one === reaction?.emoji ? undefined : { emoji: one })}
                >
                  {one}
                </Menu.Item>
              ))}
            </div>
            <CustomReactions reaction={reaction} react={react} />
            <Item icon="reply" text={t('messenger.reply')} act={reply} />
            <Item icon="forward" text={t('messenger.forward')} act={forward} />
            {canEdit && <Item icon="edit" text={t('messenger.edit')} act={edit} />}
            {isOwn && <Item icon="trash" text={t('messenger.delete')} act={remove} />}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  )
}

/** The custom emoji that bots have made, as far as a row has room for them. */
function CustomReactions({ reaction, react }: Pick<MessageMenuProps, 'reaction' | 'react'>) {
  const t = useT()
  const sets = useQuery(stickerSetsQuery)
  const known = sets.data?.flatMap(({ stickers }) => stickers) ?? []
  const custom = known.filter(({ custom_emoji_id }) => custom_emoji_id).slice(0, emoji.length)
  return (
    <div className="reactions">
      {custom.map(({ custom_emoji_id: id = '', emoji: stands = '' }) => {
        const isChosen = id === reaction?.custom_emoji_id
        return (
          <Menu.Item
            key={id}
            aria-label={t('messenger.reactCustom', { emoji: stands })}
            className={isChosen ? 'chosen' : ''}
            onClick={() => react(isChosen ? undefined : { custom_emoji_id: id })}
          >
            <CustomEmoji id={id}>{stands}</CustomEmoji>
          </Menu.Item>
        )
      })}
    </div>
  )
}

function Item({
  icon,
  text,
  act,
}: {
  readonly icon: IconName
  readonly text: string
  act(): void
}) {
  return (
    <Menu.Item onClick={act}>
      <Icon name={icon} size={16} />
      {text}
    </Menu.Item>
  )
}
