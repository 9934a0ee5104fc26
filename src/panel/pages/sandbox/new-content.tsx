/** Dialogs in which one makes something to be sent: a place, which may have a name, or a suggested post. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { Written } from '../../api/sandbox.ts'
import { latinDigits } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Form } from '../../ui/form.tsx'
import { Wrong } from '../../ui/states.tsx'

export interface NewContentProps {
  write(content: Omit<Written, 'to'>): Promise<unknown>
  onClose(): void
}

const DECIMAL = '-?[0-9]{1,3}(\\.[0-9]+)?'

export function NewPlaceDialog({ write, onClose }: NewContentProps) {
  const t = useT()
  const [latitude, setLatitude] = useState('35.6997')
  const [longitude, setLongitude] = useState('51.3381')
  const [title, setTitle] = useState('')
  const [address, setAddress] = useState('')
  const isNamed = title.trim() !== ''
  const sending = useMutation({
    mutationFn: () =>
      write({
        location: { latitude: Number(latitude), longitude: Number(longitude) },
        ...(isNamed && { venue: { title: title.trim(), address: address.trim() } }),
      }),
    onSuccess: onClose,
  })
  const coordinate = { inputMode: 'decimal', className: 'ltr', pattern: DECIMAL } as const
  return (
    <Dialog title={t('messenger.place')} open onClose={onClose}>
      <Form by={sending}>
        <Field
          label={t('messenger.latitude')}
          {...coordinate}
          required
          value={latitude}
          onChange={(event) => setLatitude(latinDigits(event.target.value))}
        />
        <Field
          label={t('messenger.longitude')}
          {...coordinate}
          required
          value={longitude}
          onChange={(event) => setLongitude(latinDigits(event.target.value))}
        />
        <Field
          label={`${t('messenger.placeName')} (${t('optional')})`}
          maxLength={255}
          value={title}
          onChange={(event) => setTitle(event.target.value)}
        />
        {isNamed && (
          <Field
            label={t('messenger.address')}
            maxLength={255}
            required
            value={address}
            onChange={(event) => setAddress(event.target.value)}
          />
        )}
        <Wrong cause={sending.error} />
        <div className="actions">
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button type="submit" kind="first" busy={sending.isPending}>
            {t('messenger.send')}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}

const FEWEST_STARS = 5

/** In seconds, of a time as a field has it: the reader's own. */
export const unixTime = (time: string): number => Math.floor(Date.parse(time) / 1000)

/** A text that a channel shall post, for a price or for nothing. */
export function NewPostDialog({ write, onClose }: NewContentProps) {
  const t = useT()
  const [text, setText] = useState('')
  const [stars, setStars] = useState('')
  const [time, setTime] = useState('')
  const sending = useMutation({
    mutationFn: () =>
      write({
        text: text.trim(),
        suggested_post: {
          ...(stars !== '' && { star_count: Number(stars) }),
          ...(time !== '' && { send_date: unixTime(time) }),
        },
      }),
    onSuccess: onClose,
  })
  return (
    <Dialog title={t('suggestion.suggest')} open onClose={onClose}>
      <Form by={sending} isReady={text.trim() !== ''}>
        <Field
          label={t('suggestion.text')}
          required
          maxLength={4096}
          dir="auto"
          autoComplete="off"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <Field
          label={`${t('gifts.price')} (${t('optional')})`}
          hint={t('suggestion.priceHint', { fewest: FEWEST_STARS })}
          inputMode="numeric"
          pattern="[0-9]{1,6}"
          value={stars}
          onChange={(event) => setStars(latinDigits(event.target.value))}
        />
        <Field
          label={`${t('suggestion.when')} (${t('optional')})`}
          type="datetime-local"
          className="ltr"
          value={time}
          onChange={(event) => setTime(event.target.value)}
        />
        <Wrong cause={sending.error} />
        <div className="actions">
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button type="submit" kind="first" busy={sending.isPending}>
            {t('messenger.send')}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}
