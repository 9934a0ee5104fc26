/** Dialogs for what one sends beside text: somebody's contact, a die, a voice message, words that one member alone sees, and a new kind of gift. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { type Chat, createGift, giftsQuery, groupsQuery } from '../../../api/sandbox.ts'
import { latinDigits } from '../../../i18n/formats.ts'
import { useT } from '../../../i18n/language.tsx'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Choice, Field, Form } from '../../../ui/form.tsx'
import { Wrong } from '../../../ui/states.tsx'
import { useActing } from '../acting.ts'
import { personName } from '../names.tsx'
import type { NewContentProps } from '../new-content.tsx'
import { base64 } from './files.ts'

/** Of one of the people in the sandbox, oneself first. */
export function ContactDialog({ write, onClose }: NewContentProps) {
  const t = useT()
  const { person, people } = useActing()
  const known = [person, ...people.filter(({ id }) => id !== person.id)]
  const [chosen, choose] = useState(person.id)
  const { phone, first_name, last_name, id } = known.find((one) => one.id === chosen) ?? person
  const sending = useMutation({
    mutationFn: () =>
      write({
        contact: {
          phone_number: phone,
          first_name,
          ...(last_name && { last_name }),
          user_id: id,
        },
      }),
    onSuccess: onClose,
  })
  return (
    <Dialog title={t('giving.contact')} open onClose={onClose}>
      <Form by={sending}>
        <Choice
          label={t('giving.whose')}
          value={`${chosen}`}
          options={known.map((one) => [`${one.id}`, `${personName(one)} · ${one.phone}`])}
          onChange={(value) => choose(Number(value))}
        />
        <Wrong cause={sending.error} />
        <Ends isBusy={sending.isPending} onClose={onClose} />
      </Form>
    </Dialog>
  )
}

/** Those that the reference throws. */
const DICE = ['🎲', '🎯', '🏀', '⚽', '🎳', '🎰'] as const

export function DiceDialog({ write, onClose }: NewContentProps) {
  const t = useT()
  const sending = useMutation({
    mutationFn: (emoji: string) => write({ dice: { emoji } }),
    onSuccess: onClose,
  })
  return (
    <Dialog title={t('giving.dice')} open onClose={onClose}>
      <div className="stickers">
        {DICE.map((emoji) => (
          <button
            key={emoji}
            type="button"
            className="button bare sticker-emoji"
            aria-label={t('giving.throw', { emoji })}
            disabled={sending.isPending}
            onClick={() => sending.mutate(emoji)}
          >
            {emoji}
          </button>
        ))}
      </div>
      <Wrong cause={sending.error} />
      <div className="actions">
        <Button onClick={onClose}>{t('close')}</Button>
      </div>
    </Dialog>
  )
}

interface WhisperProps extends NewContentProps {
  readonly chat: Chat
}

/** A text for one member of the group; bots answer such words in the same way. */
export function WhisperDialog({ chat, write, onClose }: WhisperProps) {
  const t = useT()
  const id = useId()
  const { person } = useActing()
  const groups = useQuery(groupsQuery)
  const members = groups.data?.items.find((group) => group.id === chat.id)?.members ?? []
  const others = members.filter((one) => one.person.id !== person.id)
  const [chosen, choose] = useState('')
  const [text, setText] = useState('')
  const receiver = Number(chosen) || others[0]?.person.id
  const isReady = receiver !== undefined && text.trim() !== ''
  const sending = useMutation({
    mutationFn: async () => receiver !== undefined && write({ text: text.trim(), receiver }),
    onSuccess: onClose,
  })
  return (
    <Dialog title={t('giving.whisper')} open onClose={onClose}>
      <Form by={sending} isReady={isReady}>
        <Choice
          label={t('giving.receiver')}
          value={`${receiver ?? ''}`}
          options={others.map((one) => [`${one.person.id}`, personName(one.person)])}
          onChange={choose}
        />
        <div className="field">
          <label htmlFor={id}>{t('giving.words')}</label>
          <textarea
            id={id}
            className="input"
            rows={3}
            dir="auto"
            required
            maxLength={4096}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </div>
        <Wrong cause={sending.error} />
        <Ends isBusy={sending.isPending} isReady={isReady} onClose={onClose} />
      </Form>
    </Dialog>
  )
}

interface EndsProps {
  readonly isBusy: boolean
  readonly isReady?: boolean
  onClose(): void
}

function Ends({ isBusy, isReady = true, onClose }: EndsProps) {
  const t = useT()
  return (
    <div className="actions">
      <Button onClick={onClose}>{t('cancel')}</Button>
      <Button type="submit" kind="first" busy={isBusy} disabled={!isReady}>
        {t('messenger.send')}
      </Button>
    </div>
  )
}

interface QuoteFieldProps {
  /** The text of the message that is answered. */
  readonly whole: string
  /** Undefined: the message is answered as a whole. */
  readonly quoted: string | undefined
  quote(part: string | undefined): void
}

/** The part of the answered message that is quoted. It has to stand there in these very words. */
export function QuoteField({ whole, quoted, quote }: QuoteFieldProps) {
  const t = useT()
  if (whole === '') return null
  if (quoted === undefined) {
    return (
      <Button size="slim" kind="bare" onClick={() => quote(whole)}>
        {t('giving.quote')}
      </Button>
    )
  }
  return (
    <Field
      label={t('giving.quoted')}
      dir="auto"
      maxLength={1024}
      autoComplete="off"
      value={quoted}
      wrong={whole.includes(quoted) ? undefined : t('giving.notThere')}
      onChange={(event) => quote(event.target.value || undefined)}
    />
  )
}

/** Adds a gift to those that everybody in the sandbox can give. */
export function NewGift() {
  const t = useT()
  const queries = useQueryClient()
  const [isOpen, setOpen] = useState(false)
  const [stars, setStars] = useState('100')
  const [file, setFile] = useState<File>()
  const close = () => setOpen(false)
  const making = useMutation({
    mutationFn: async () => file && createGift(await base64(file), Number(stars)),
    onSuccess() {
      queries.invalidateQueries({ queryKey: giftsQuery.queryKey })
      close()
    },
  })
  return (
    <>
      <Button icon="plus" onClick={() => setOpen(true)}>
        {t('gifts.make')}
      </Button>
      <Dialog title={t('gifts.make')} open={isOpen} onClose={close}>
        <Form by={making} isReady={file !== undefined}>
          <Field
            label={t('gifts.picture')}
            type="file"
            accept="image/png,image/webp,image/jpeg"
            required
            onChange={(event) => setFile(event.target.files?.[0])}
          />
          <Field
            label={t('gifts.price')}
            inputMode="numeric"
            pattern="[1-9][0-9]{0,4}"
            required
            value={stars}
            onChange={(event) => setStars(latinDigits(event.target.value))}
          />
          <Wrong cause={making.error} />
          <div className="actions">
            <Button onClick={close}>{t('cancel')}</Button>
            <Button type="submit" kind="first" busy={making.isPending}>
              {t('gifts.make')}
            </Button>
          </div>
        </Form>
      </Dialog>
    </>
  )
}
