import js from '@eslint/js'
import { defineConfig } from 'eslint/config'
import tseslint from 'typescript-eslint'

export default defineConfig(
  js.configs.recommended,
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  { languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } } },
  {
    files: ['**/*.{ts,tsx}'],
    rules: {
      'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
      'max-params': ['error', 4],
      complexity: ['error', 10],
      'max-lines-per-function': ['error', { max: 60, skipComments: true, skipBlankLines: true }],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-restricted-syntax': [
        'error',
        {
          selector: 'ThrowStatement > NewExpression[callee.name="Error"]',
          message: 'Throw a PoolError subclass: callers decide by kind and code.',
        },
      ],
    },
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      // describe() bodies hold many sentences; each `it` stays short.
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  {
    ignores: [
      'eslint.config.js',
      '.dependency-cruiser.cjs',
      'docs-out/**',
      'main/desktop/dist/**',
      // AssemblyScript: TypeScript's grammar with other types, checked by its own compiler.
      'main/edge/engine/wasm/kernels/**',
      'renderer/dist/**',
      'release/**',
      '**/*.cjs',
      '**/*.mjs',
    ],
  },
)
