/** The message field: text, files, an answer to a message, or a new text for an edited one. */
import { useMutation } from '@tanstack/react-query'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import type {
  Chat,
  Message,
  Person,
  PersonApi,
  StandingKeyboard,
  Written,
} from '../../api/sandbox.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Choice } from '../../ui/form.tsx'
import { useReason } from '../../ui/states.tsx'
import { useOwnChannels } from './acting.ts'
import { Attach, Chip } from './attach.tsx'
import { useSummary } from './content.tsx'
import { useDraft } from './drafts.ts'
import { InlineResults, useInlineText } from './inline-results.tsx'
import { chatName, personName } from './names.tsx'
import { ReplyKeyboard, useKeys } from './reply-keyboard.tsx'
import { areTooLarge, areTooMany, contentOf } from './sending/files.ts'
import { QuoteField } from './sending/give.tsx'

export interface Aim {
  readonly act: 'reply' | 'edit'
  readonly message: Message
}

interface ComposerProps {
  readonly chat: Chat
  readonly person: Person
  readonly api: PersonApi
  /** The topic that is read. */
  readonly thread: number | undefined
  readonly standing: StandingKeyboard | undefined
  readonly aim: Aim | undefined
  release(): void
  /** Aims again at what could not be sent. */
  resume(aim: Aim): void
}

/** The text that failed to go out comes before the text typed since. */
const joined = (sent: string, typed: string) =>
  typed.trim() === '' ? sent : sent.trim() === '' ? typed : `${sent}\n${typed}`

interface Sent {
  readonly text: string
  readonly files: readonly File[]
  readonly aim: Aim | undefined
}

const TYPING_EVERY_MS = 5_000
/** For browsers in which the field does not grow by itself. */
const MOST_ROWS = 5
/** The code of a key that an input method has taken. Safari tells so by nothing else of the key that ends a word. */
const TAKEN = 229

export function Composer(props: ComposerProps) {
  const { chat: place, person, api, thread, standing, aim, release, resume } = props
  const chat = place.id
  const t = useT()
  const reason = useReason()
  const summary = useSummary()
  const area = useRef<HTMLTextAreaElement>(null)
  const typedAt = useRef(0)
  const [text, setText] = useDraft(person.id, chat)
  /** The draft from before the change of an older message began. */
  const setAside = useRef('')
  const resumed = useRef<Aim>(undefined)
  const [files, setFiles] = useState<readonly File[]>([])
  const isEditing = aim?.act === 'edit'
  const keys = useKeys(isEditing ? undefined : standing)
  const keysId = useId()
  const inline = useInlineText(isEditing ? '' : text)
  const [channel, setChannel] = useState<number>()
  const [quote, setQuote] = useState<Quoted>()
  const current = useRef(aim)
  current.current = aim

  useEffect(() => {
    if (!aim) return
    if (aim.act === 'edit' && aim !== resumed.current) {
      setText((typed) => {
        setAside.current = typed
        return textIn(aim.message)
      })
    }
    area.current?.focus()
  }, [aim, setText])

  const write = (content: Omit<Written, 'to'>, at: Aim | undefined) =>
    api.write({
      to: chat,
      ...content,
      ...threadOf(thread ?? at?.message.message_thread_id),
      ...(channel !== undefined && { send_as: channel }),
      ...(at?.act === 'reply' && { reply_to_message_id: at.message.message_id }),
      ...quoteOf(at, quote),
    })
  const writeAtOnce = async (content: Omit<Written, 'to'>) => {
    await write(content, aim)
    if (current.current === aim) release()
  }
  const press = async (content: Omit<Written, 'to'>) => {
    await writeAtOnce({ ...answeringIn(chat, standing), ...content })
    // The key is about to be hidden.
    if (standing?.one_time_keyboard) area.current?.focus()
  }
  const sending = useMutation({
    async mutationFn({ text, files, aim }: Sent) {
      if (aim?.act === 'edit') return api.edit(aim.message, text)
      return write(files.length > 0 ? await contentOf(files, text) : { text }, aim)
    },
    // The entry is free for the next message at once, and nothing that is typed meanwhile is touched.
    onMutate() {
      setText(isEditing ? setAside.current : '')
      setAside.current = ''
      setFiles([])
      release()
      area.current?.focus()
    },
    onError(_, sent) {
      setFiles((since) => [...sent.files, ...since])
      const isFree = sent.aim && !current.current
      setText((typed) => {
        if (!isFree || sent.aim?.act !== 'edit') return joined(sent.text, typed)
        setAside.current = typed
        return sent.text
      })
      if (!sent.aim || !isFree) return
      resumed.current = sent.aim
      resume(sent.aim)
    },
  })
  const isTooMuch = areTooLarge(files) || areTooMany(files)
  const hasContent = files.length > 0 || text.trim() !== ''
  const canSend = hasContent && !isTooMuch && !sending.isPending
  const send = () => {
    if (canSend) sending.mutate({ text, files, aim })
  }
  const typed = (next: string) => {
    setText(next)
    if (next === '' || isEditing || Date.now() - typedAt.current < TYPING_EVERY_MS) return
    typedAt.current = Date.now()
    // Whether the others see it changes nothing here.
    api.type(chat, thread).catch(() => undefined)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing || event.keyCode === TAKEN) return
    if (event.key === 'Escape' && aim) leave()
    if (event.key !== 'Enter' || event.shiftKey) return
    event.preventDefault()
    send()
  }
  const leave = () => {
    if (isEditing) setText(setAside.current)
    setAside.current = ''
    release()
  }
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault()
        // The forms of dialogs opened from here are no part of it.
        if (event.target === event.currentTarget) send()
      }}
    >
      {aim && (
        <Chip onDrop={leave}>
          <span className="label small">{t(`messenger.${aim.act}`)}</span>{' '}
          <span className="quiet small">{summary(aim.message)}</span>
        </Chip>
      )}
      {aim?.act === 'reply' && (
        <QuoteField
          whole={textIn(aim.message)}
          quoted={quotedIn(aim, quote)}
          quote={(part) => setQuote({ of: aim.message, part })}
        />
      )}
      {files.length > 0 && (
        <Chip onDrop={() => setFiles([])}>
          <span className="small">{files.map(({ name }) => name).join(', ')}</span>
        </Chip>
      )}
      {(isTooMuch || sending.error) && (
        <p className="wrong" role="alert">
          {areTooMany(files)
            ? t('messenger.tooMany')
            : isTooMuch
              ? t('messenger.tooLarge')
              : reason(sending.error)}
        </p>
      )}
      {inline && <InlineResults {...inline} chat={chat} onPicked={() => setText('')} />}
      {!isEditing && <SendAs place={place} person={person} channel={channel} choose={setChannel} />}
      <div className="entry">
        <Attach disabled={isEditing} place={place} take={setFiles} write={writeAtOnce} />
        <textarea
          ref={area}
          className="input"
          rows={Math.min(text.split('\n').length, MOST_ROWS)}
          dir="auto"
          placeholder={keys.placeholder ?? t('messenger.write')}
          aria-label={t('messenger.write')}
          maxLength={4096}
          value={text}
          onChange={(event) => typed(event.target.value)}
          onKeyDown={onKeyDown}
        />
        {keys.canHide && (
          <Button
            kind="bare"
            icon="keyboard"
            aria-label={t('messenger.keyboard')}
            aria-expanded={keys.isOpen}
            aria-controls={keys.isOpen ? keysId : undefined}
            onClick={keys.toggle}
          />
        )}
        <Button
          type="submit"
          kind="first"
          icon={isEditing ? 'check' : 'send'}
          busy={sending.isPending}
          disabled={!canSend && !sending.isPending}
          aria-label={t(isEditing ? 'save' : 'messenger.send')}
        />
      </div>
      {keys.isOpen && <ReplyKeyboard id={keysId} chat={chat} rows={keys.rows} write={press} />}
    </form>
  )
}

interface SendAsProps {
  readonly place: Chat
  readonly person: Person
  readonly channel: number | undefined
  choose(channel: number | undefined): void
}

/** In whose name it is written: the person's own, or that of a channel of theirs. */
function SendAs({ place, person, channel, choose }: SendAsProps) {
  const t = useT()
  const channels = useOwnChannels(person.id)
  if (place.type !== 'supergroup' || place.direct_with || channels.length === 0) return null
  return (
    <Choice
      label={t('messenger.sendAs')}
      value={`${channel ?? ''}`}
      options={[
        ['', personName(person)],
        ...channels.map((one) => [`${one.id}`, chatName(one)] as const),
      ]}
      onChange={(chosen) => choose(Number(chosen) || undefined)}
    />
  )
}

/** A part of a message that is answered. */
interface Quoted {
  readonly of: Message
  readonly part: string | undefined
}

const textIn = ({ text, caption }: Message) => text ?? caption ?? ''

const quotedIn = (aim: Aim | undefined, quote: Quoted | undefined): string | undefined =>
  aim?.act === 'reply' && aim.message.message_id === quote?.of.message_id ? quote.part : undefined

function quoteOf(aim: Aim | undefined, quote: Quoted | undefined): Pick<Written, 'quote'> {
  const text = quotedIn(aim, quote)
  if (!aim || text === undefined) return {}
  return { quote: { text, position: Math.max(0, textIn(aim.message).indexOf(text)) } }
}

const threadOf = (thread: number | undefined) =>
  thread === undefined ? {} : { message_thread_id: thread }

/** In a group, a command names the bot that it is for. */
const answeringIn = (chat: number, standing: StandingKeyboard | undefined) =>
  chat < 0 && standing ? { reply_to_message_id: standing.message_id } : {}
