/** Where one writes: text, a file, an answer to a message, or another text for one. */
import { useMutation } from '@tanstack/react-query'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import type { Hands } from '../../api/sandbox.ts'
import type { Message } from '../../api/sandbox-types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { useReason } from '../../ui/states.tsx'
import { useSummary } from './content.tsx'
import { isTooLarge, mediaOf } from './given-file.ts'

export interface Aim {
  readonly act: 'reply' | 'edit'
  readonly message: Message
}

export interface ComposerProps {
  readonly chat: number
  readonly hands: Hands
  readonly aim: Aim | undefined
  release(): void
}

const TYPING_EVERY_MS = 5_000

export function Composer({ chat, hands, aim, release }: ComposerProps) {
  const t = useT()
  const reason = useReason()
  const summary = useSummary()
  const area = useRef<HTMLTextAreaElement>(null)
  const picker = useRef<HTMLInputElement>(null)
  const typedAt = useRef(0)
  const [text, setText] = useState('')
  const [file, setFile] = useState<File>()
  const isEditing = aim?.act === 'edit'

  useEffect(() => {
    if (!aim) return
    if (aim.act === 'edit') setText(aim.message.text ?? aim.message.caption ?? '')
    area.current?.focus()
  }, [aim])

  const sending = useMutation({
    async mutationFn() {
      if (aim?.act === 'edit') return hands.edit(aim.message, text)
      const reply = aim && { reply_to_message_id: aim.message.message_id }
      const carried = file ? { media: await mediaOf(file, text) } : { text }
      return hands.write({ to: chat, ...carried, ...reply })
    },
    onSuccess() {
      setText('')
      setFile(undefined)
      release()
      area.current?.focus()
    },
  })
  const isTooBig = file !== undefined && isTooLarge(file)
  const canSend = (file ? !isTooBig : text.trim() !== '') && !sending.isPending
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
        send()
      }}
    >
      {aim && (
        <Chip onDrop={leave}>
          <span className="label small">{t(`messenger.${aim.act}`)}</span>{' '}
          <span className="quiet small">{summary(aim.message)}</span>
        </Chip>
      )}
      {file && (
        <Chip onDrop={() => setFile(undefined)}>
          <span className="small">{file.name}</span>
        </Chip>
      )}
      {(isTooBig || sending.error) && (
        <p className="wrong" role="alert">
          {isTooBig ? t('messenger.tooLarge') : reason(sending.error)}
        </p>
      )}
      <div className="entry">
        <Button
          kind="bare"
          icon="image"
          aria-label={t('messenger.attach')}
          disabled={isEditing}
          onClick={() => picker.current?.click()}
        />
        <input
          ref={picker}
          type="file"
          hidden
          aria-label={t('messenger.attach')}
          onChange={(event) => {
            setFile(event.target.files?.[0])
            event.target.value = ''
          }}
        />
        <textarea
          ref={area}
          className="input"
          rows={1}
          dir="auto"
          placeholder={t('messenger.write')}
          aria-label={t('messenger.write')}
          maxLength={4096}
          value={text}
          onChange={(event) => typed(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <Button
          type="submit"
          kind="first"
          icon={isEditing ? 'check' : 'send'}
          busy={sending.isPending}
          disabled={!canSend && !sending.isPending}
          aria-label={t(isEditing ? 'save' : 'messenger.send')}
        />
      </div>
    </form>
  )
}

interface ChipProps {
  readonly children: React.ReactNode
  onDrop(): void
}

function Chip({ children, onDrop }: ChipProps) {
  const t = useT()
  return (
    <div className="chip">
      <span className="grow clip" dir="auto">
        {children}
      </span>
      <Button kind="bare" size="slim" icon="cross" aria-label={t('cancel')} onClick={onDrop} />
    </div>
  )
}
