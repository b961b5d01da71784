/** An import that TypeScript need not resolve: for packages that are optional and often absent. */
export const importOptional = (specifier: string): Promise<unknown> => import(specifier)
