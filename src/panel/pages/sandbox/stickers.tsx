/** The stickers of all sets, to pick one and send it. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { stickerSetsQuery } from '../../api/sandbox.ts'
import type { Media } from '../../api/sandbox-types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Loading, Wrong } from '../../ui/states.tsx'
import { isPicture, Picture } from './attachment.tsx'
import type { NewContentProps } from './new-place.tsx'

export function StickersDialog({ write, onClose }: NewContentProps) {
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
