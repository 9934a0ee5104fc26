/** The look of a topic: its icon, and the dialog in which name, colour and icon are chosen. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { stickerSetsQuery, type Topic, type TopicLook } from '../../../api/sandbox.ts'
import { useT } from '../../../i18n/language.tsx'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field, Form } from '../../../ui/form.tsx'
import { Wrong } from '../../../ui/states.tsx'
import { CustomEmoji } from '../attachment.tsx'

/** The colours that the reference lets one choose from. */
const COLORS = {
  blue: 0x6fb9f0,
  yellow: 0xffd67e,
  violet: 0xcb86db,
  green: 0x8eee98,
  rose: 0xff93b2,
  red: 0xfb6f5f,
} as const

const cssColor = (color: number) => `#${color.toString(16).padStart(6, '0')}`

export function TopicIcon({
  topic: { name, icon_color, icon_custom_emoji_id: icon },
}: {
  readonly topic: Pick<Topic, 'name' | 'icon_color' | 'icon_custom_emoji_id'>
}) {
  const letter = (
    <span className="topic-icon" style={{ background: cssColor(icon_color) }}>
      {[...name][0]}
    </span>
  )
  return (
    <span aria-hidden="true">
      {icon === undefined ? letter : <CustomEmoji id={icon}>{letter}</CustomEmoji>}
    </span>
  )
}

interface TopicDialogProps {
  readonly title: string
  /** The topic to change; without it a new one is made. */
  readonly topic?: Topic
  /** The name of the general topic, which has neither colour nor icon. */
  readonly general?: string
  save(look: TopicLook): Promise<unknown>
  onClose(): void
}

export function TopicDialog({ title, topic, general, save, onClose }: TopicDialogProps) {
  const t = useT()
  const [name, setName] = useState(topic?.name ?? general ?? '')
  const [color, setColor] = useState<number>(COLORS.blue)
  const [icon, setIcon] = useState(topic?.icon_custom_emoji_id ?? '')
  const isNew = !topic && general === undefined
  const look = {
    ...(name.trim() !== (topic?.name ?? general) && { name: name.trim() }),
    ...(isNew && { icon_color: color }),
    ...(icon !== (topic?.icon_custom_emoji_id ?? '') && { icon_custom_emoji_id: icon }),
  }
  const isReady = name.trim() !== '' && Object.keys(look).length > 0
  const saving = useMutation({ mutationFn: () => save(look), onSuccess: onClose })
  return (
    <Dialog title={title} open onClose={onClose}>
      <Form by={saving} isReady={isReady}>
        <Field
          label={t('topics.name')}
          required
          maxLength={128}
          dir="auto"
          autoComplete="off"
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        {isNew && <Colors chosen={color} choose={setColor} />}
        {general === undefined && <Icons chosen={icon} choose={setIcon} />}
        <Wrong cause={saving.error} />
        <div className="actions">
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button type="submit" kind="first" busy={saving.isPending} disabled={!isReady}>
            {t('save')}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}

interface ColorsProps {
  readonly chosen: number
  choose(color: number): void
}

function Colors({ chosen, choose }: ColorsProps) {
  const t = useT()
  return (
    <fieldset className="topic-looks">
      <legend className="label">{t('topics.color')}</legend>
      {Object.entries(COLORS).map(([word, color]) => (
        <label key={word} title={t.word('topics.color', word)}>
          <input
            type="radio"
            name="color"
            checked={color === chosen}
            onChange={() => choose(color)}
          />
          <span className="topic-icon" style={{ background: cssColor(color) }} />
          <span className="unseen">{t.word('topics.color', word)}</span>
        </label>
      ))}
    </fieldset>
  )
}

interface IconsProps {
  readonly chosen: string
  choose(icon: string): void
}

/** The custom emoji of the sandbox, and none. */
function Icons({ chosen, choose }: IconsProps) {
  const t = useT()
  const sets = useQuery(stickerSetsQuery)
  const known = (sets.data ?? []).flatMap(({ stickers }) =>
    stickers.flatMap(({ custom_emoji_id: id, emoji = '' }) => (id ? [{ id, emoji }] : [])),
  )
  if (known.length === 0) return null
  return (
    <fieldset className="topic-looks">
      <legend className="label">{t('topics.icon')}</legend>
      <label>
        <input type="radio" name="icon" checked={chosen === ''} onChange={() => choose('')} />
        {t('topics.noIcon')}
      </label>
      {known.map(({ id, emoji }) => (
        <label key={id} title={emoji}>
          <input
            type="radio"
            name="icon"
            aria-label={t('topics.iconFor', { emoji })}
            checked={chosen === id}
            onChange={() => choose(id)}
          />
          <CustomEmoji id={id}>{emoji}</CustomEmoji>
        </label>
      ))}
    </fieldset>
  )
}
