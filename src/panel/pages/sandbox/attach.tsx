/** Attachments that go with a text or instead of it: files, a voice message, a place, a poll, a contact … */

import { Menu } from '@base-ui/react/menu'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type ReactNode, useRef, useState } from 'react'
import { type Chat, type Media, stickerSetsQuery, type Written } from '../../api/sandbox.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Icon, type IconName } from '../../ui/icons.tsx'
import { Loading, useReason, Wrong } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { isPicture, Picture } from './attachment.tsx'
import { type NewContentProps, NewPlaceDialog, NewPostDialog } from './new-content.tsx'
import { areTooLarge, mediaOf } from './sending/files.ts'
import { ContactDialog, DiceDialog, WhisperDialog } from './sending/give.tsx'
import { NewPollDialog } from './sending/poll.tsx'

/** The stickers of all sets, to pick one and send it. */
function StickersDialog({ write, onClose }: NewContentProps) {
  const t = useT()
  const sets = useQuery(stickerSetsQuery)
  const sending = useMutation({
    mutationFn: ({ file }: Media) => write({ media: { type: 'sticker', file } }),
    onSuccess: onClose,
  })
  const shown = sets.data?.filter(({ sticker_type }) => sticker_type !== 'custom_emoji')
  return (
    <Dialog title={t('stickers.title')} open wide onClose={onClose}>
      {sets.isPending && <Loading lines={3} />}
      {shown?.length === 0 && <p className="quiet">{t('stickers.none')}</p>}
      {shown?.map(({ name, title, stickers }) => (
        <section key={name} aria-label={title}>
          <h3 className="label">
            <bdi>{title}</bdi>
          </h3>
          <div className="stickers">
            {stickers.map((sticker) => (
              <button
                key={sticker.file}
                type="button"
                className="button bare"
                aria-label={t('stickers.send', { emoji: sticker.emoji ?? '' })}
                disabled={sending.isPending}
                onClick={() => sending.mutate(sticker)}
              >
                {isPicture(sticker) ? <Picture media={sticker} /> : sticker.emoji}
              </button>
            ))}
          </div>
        </section>
      ))}
      <Wrong cause={sets.error ?? sending.error} />
      <div className="actions">
        <Button onClick={onClose}>{t('close')}</Button>
      </div>
    </Dialog>
  )
}

interface AttachProps {
  readonly disabled: boolean
  readonly place: Chat
  take(files: readonly File[]): void
  write(content: Omit<Written, 'to'>): Promise<unknown>
}

const dialogs = {
  place: NewPlaceDialog,
  poll: NewPollDialog,
  sticker: StickersDialog,
  contact: ContactDialog,
  dice: DiceDialog,
  post: NewPostDialog,
} as const

/** The menu of attachments. */
export function Attach({ disabled, place, take, write }: AttachProps) {
  const t = useT()
  const picker = useRef<HTMLInputElement>(null)
  const isVoice = useRef(false)
  const [making, setMaking] = useState<keyof typeof dialogs | 'whisper'>()
  const close = () => setMaking(undefined)
  const saying = useVoice(write)
  const pick = (voice: boolean) => {
    if (!picker.current) return
    isVoice.current = voice
    picker.current.accept = voice ? 'audio/*' : ''
    picker.current.click()
  }
  const isGroup = place.type === 'group' || place.type === 'supergroup'
  const items: readonly (readonly [icon: IconName, text: string, act: () => void])[] = [
    ['image', t('messenger.files'), () => pick(false)],
    ['play', t('messenger.kind.voice'), () => pick(true)],
    ['pin', t('messenger.place'), () => setMaking('place')],
    ['poll', t('messenger.poll'), () => setMaking('poll')],
    ['image', t('messenger.kind.sticker'), () => setMaking('sticker')],
    ['accounts', t('giving.contact'), () => setMaking('contact')],
    ['flask', t('giving.dice'), () => setMaking('dice')],
  ]
  const post = ['edit', t('suggestion.suggest'), () => setMaking('post')] as const
  const whisper = ['accounts', t('giving.whisper'), () => setMaking('whisper')] as const
  const all = [
    ...items,
    ...(place.direct_with ? [post] : []),
    ...(isGroup && !place.direct_with ? [whisper] : []),
  ]
  const Made = making && making !== 'whisper' ? dialogs[making] : undefined
  return (
    <>
      <AttachMenu disabled={disabled} items={all} />
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        aria-label={t('messenger.files')}
        onChange={(event) => {
          const chosen = [...(event.target.files ?? [])]
          event.target.value = ''
          if (isVoice.current) for (const file of chosen) saying.mutate(file)
          else take(chosen)
        }}
      />
      {Made && <Made write={write} onClose={close} />}
      {making === 'whisper' && <WhisperDialog chat={place} write={write} onClose={close} />}
    </>
  )
}

/** A recorded file, sent as a voice message at once. */
function useVoice(write: AttachProps['write']) {
  const toast = useToast()
  const reason = useReason()
  const t = useT()
  return useMutation({
    async mutationFn(file: File) {
      if (areTooLarge([file])) return toast(t('messenger.tooLarge'), 'bad')
      await write({ media: await mediaOf(file, 'voice') })
    },
    onError: (cause) => toast(reason(cause), 'bad'),
  })
}

interface AttachMenuProps {
  readonly disabled: boolean
  readonly items: readonly (readonly [icon: IconName, text: string, act: () => void])[]
}

function AttachMenu({ disabled, items }: AttachMenuProps) {
  const t = useT()
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger
        render={<Button kind="bare" icon="clip" disabled={disabled} />}
        aria-label={t('messenger.attach')}
      />
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} className="over">
          <Menu.Popup className="menu">
            {items.map(([icon, text, act]) => (
              <Menu.Item key={text} onClick={act}>
                <Icon name={icon} size={16} />
                {text}
              </Menu.Item>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  )
}

interface ChipProps {
  readonly children: ReactNode
  onDrop(): void
}

/** The attachment of the text, until it is taken off. */
export function Chip({ children, onDrop }: ChipProps) {
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
