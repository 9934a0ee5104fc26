/** Where one writes: text, files, an answer to a message, or another text for one. */
import { useMutation } from '@tanstack/react-query'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import type { Hands, Written } from '../../api/sandbox.ts'
import type { Message, Person, StandingKeyboard } from '../../api/sandbox-types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { useReason } from '../../ui/states.tsx'
import { Attach } from './attach.tsx'
import { Chip } from './chip.tsx'
import { useSummary } from './content.tsx'
import { areTooLarge, areTooMany, contentOf } from './given-file.ts'
import { ReplyKeyboard } from './reply-keyboard.tsx'
import { useKeys } from './use-keys.ts'

export interface Aim {
  readonly act: 'reply' | 'edit'
  readonly message: Message
}

export interface ComposerProps {
  readonly chat: number
  readonly person: Person
  readonly hands: Hands
  readonly standing: StandingKeyboard | undefined
  readonly aim: Aim | undefined
  release(): void
}

const TYPING_EVERY_MS = 5_000

export function Composer({ chat, person, hands, standing, aim, release }: ComposerProps) {
  const t = useT()
  const reason = useReason()
  const summary = useSummary()
  const area = useRef<HTMLTextAreaElement>(null)
  const typedAt = useRef(0)
  const [text, setText] = useState('')
  const [files, setFiles] = useState<readonly File[]>([])
  const isEditing = aim?.act === 'edit'
  const keys = useKeys(isEditing ? undefined : standing)
  const keysId = useId()

  useEffect(() => {
    if (!aim) return
    if (aim.act === 'edit') setText(aim.message.text ?? aim.message.caption ?? '')
    area.current?.focus()
  }, [aim])

  const write = (content: Omit<Written, 'to'>) =>
    hands.write({
      to: chat,
      ...content,
      ...(aim?.act === 'reply' && { reply_to_message_id: aim.message.message_id }),
    })
  const writeAtOnce = async (content: Omit<Written, 'to'>) => {
    await write(content)
    release()
  }
  const press = async (content: Omit<Written, 'to'>) => {
    await writeAtOnce({ ...answeringIn(chat, standing), ...content })
    // The key is about to be hidden.
    if (standing?.one_time_keyboard) area.current?.focus()
  }
  const sending = useMutation({
    async mutationFn() {
      if (aim?.act === 'edit') return hands.edit(aim.message, text)
      return write(files.length > 0 ? await contentOf(files, text) : { text })
    },
    onSuccess() {
      setText('')
      setFiles([])
      release()
      area.current?.focus()
    },
  })
  const isTooMuch = areTooLarge(files) || areTooMany(files)
  const hasContent = files.length > 0 || text.trim() !== ''
  const canSend = hasContent && !isTooMuch && !sending.isPending
  const send = () => {
    if (canSend) sending.mutate()
  }
  const typed = (next: string) => {
    setText(next)
    if (next === '' || isEditing || Date.now() - typedAt.current < TYPING_EVERY_MS) return
    typedAt.current = Date.now()
    // Whether the others see it changes nothing here.
    hands.type(chat).catch(() => undefined)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Escape' && aim) leave()
    if (event.key !== 'Enter' || event.shiftKey) return
    event.preventDefault()
    send()
  }
  const leave = () => {
    if (isEditing) setText('')
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
      <div className="entry">
        <Attach disabled={isEditing} take={setFiles} write={writeAtOnce} />
        <textarea
          ref={area}
          className="input"
          rows={1}
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
      {keys.isOpen && <ReplyKeyboard id={keysId} person={person} rows={keys.rows} write={press} />}
    </form>
  )
}

/** Among several people a bot is told that it is meant. */
const answeringIn = (chat: number, standing: StandingKeyboard | undefined) =>
  chat < 0 && standing ? { reply_to_message_id: standing.message_id } : {}
