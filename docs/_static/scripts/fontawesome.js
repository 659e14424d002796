// Empty on purpose: it takes the place of the theme's script of 1.5 MB, whose icons come from the
// theme's web font as well.
