/** Attachments that go with a text or instead of it: files, a place, a poll, a suggested post. */

import { Menu } from '@base-ui/react/menu'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type ReactNode, useRef, useState } from 'react'
import { stickerSetsQuery, type Written } from '../../api/sandbox.ts'
import type { Media } from '../../api/sandbox-types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Loading, Wrong } from '../../ui/states.tsx'
import { isPicture, Picture } from './attachment.tsx'
import {
  type NewContentProps,
  NewPlaceDialog,
  NewPollDialog,
  NewPostDialog,
} from './new-content.tsx'

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
  /** In the direct messages of a channel. */
  readonly canSuggest: boolean
  take(files: readonly File[]): void
  write(content: Omit<Written, 'to'>): Promise<unknown>
}

/** The menu of attachments: files, a place, a poll, a sticker, a suggested post. */
export function Attach({ disabled, canSuggest, take, write }: AttachProps) {
  const t = useT()
  const picker = useRef<HTMLInputElement>(null)
  const [making, setMaking] = useState<'place' | 'poll' | 'sticker' | 'post'>()
  const close = () => setMaking(undefined)
  return (
    <>
      <Menu.Root modal={false}>
        <Menu.Trigger
          render={<Button kind="bare" icon="clip" disabled={disabled} />}
          aria-label={t('messenger.attach')}
        />
        <Menu.Portal>
          <Menu.Positioner sideOffset={4} className="over">
            <Menu.Popup className="menu">
              <Menu.Item onClick={() => picker.current?.click()}>
                <Icon name="image" size={16} />
                {t('messenger.files')}
              </Menu.Item>
              <Menu.Item onClick={() => setMaking('place')}>
                <Icon name="pin" size={16} />
                {t('messenger.place')}
              </Menu.Item>
              <Menu.Item onClick={() => setMaking('poll')}>
                <Icon name="poll" size={16} />
                {t('messenger.poll')}
              </Menu.Item>
              <Menu.Item onClick={() => setMaking('sticker')}>
                <Icon name="image" size={16} />
                {t('messenger.kind.sticker')}
              </Menu.Item>
              {canSuggest && (
                <Menu.Item onClick={() => setMaking('post')}>
                  <Icon name="edit" size={16} />
                  {t('suggestion.suggest')}
                </Menu.Item>
              )}
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        aria-label={t('messenger.files')}
        onChange={(event) => {
          take([...(event.target.files ?? [])])
          event.target.value = ''
        }}
      />
      {making === 'place' && <NewPlaceDialog write={write} onClose={close} />}
      {making === 'poll' && <NewPollDialog write={write} onClose={close} />}
      {making === 'post' && <NewPostDialog write={write} onClose={close} />}
      {making === 'sticker' && <StickersDialog write={write} onClose={close} />}
    </>
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

const LARGEST = 12_000_000
const MOST = 10

export const areTooLarge = (files: readonly File[]): boolean =>
  files.reduce((sum, { size }) => sum + size, 0) > LARGEST

export const areTooMany = (files: readonly File[]): boolean => files.length > MOST

/** SVG and the like are no photos for a messenger. */
const photos = ['image/jpeg', 'image/png', 'image/webp']

/** The content of a message with these files: pictures are photos, several files an album; beside other files a picture is a file, too. */
export async function contentOf(
  files: readonly File[],
  caption: string,
): Promise<Pick<Written, 'media' | 'album'>> {
  const type = files.every((file) => photos.includes(file.type)) ? 'photo' : 'document'
  const [first, ...rest] = await Promise.all(files.map((file) => mediaOf(file, type)))
  const media = { ...first, ...(caption.trim() && { caption }) }
  return rest.length === 0 ? { media } : { album: [media, ...rest] }
}

async function mediaOf(file: File, type: string): Promise<object> {
  return {
    type,
    data: await base64(file),
    file_name: file.name.slice(0, 255),
    ...(file.type && { mime_type: file.type }),
  }
}

export const base64 = (file: File) =>
  new Promise<string>((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(`${reader.result}`.replace(/^[^,]*,/, ''))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })
