/** How the panel is bundled: hashed files under /assets, nothing inlined that the content policy forbids. */
import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  build: {
    assetsDir: 'assets',
    // A data: address is no script, style or font of this service.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    sourcemap: false,
  },
})
